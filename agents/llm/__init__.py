"""Models: one protocol, and the adapters behind it."""
