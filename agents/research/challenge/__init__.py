"""Claims, evidence for and against, gates."""
