"""From a question to feasible queries, and the phrase that starts the work."""
