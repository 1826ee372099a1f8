"""From a topic to facts with quotes."""
