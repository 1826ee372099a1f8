"""From facts to sections and a checked report."""
