"""What every part leans on: roles, prompts, errors, events, settings, budgets."""
