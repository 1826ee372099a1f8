"""The chat: the talk as a state machine, and what Chainlit draws of it."""
