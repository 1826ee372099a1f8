"""Search: one protocol, and the providers behind it."""
