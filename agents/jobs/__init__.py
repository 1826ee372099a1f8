"""Jobs: the port that research code is written against, and what carries it."""
