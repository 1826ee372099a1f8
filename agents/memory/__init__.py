"""The knowledge base: what research has found out, per user, for later research."""
