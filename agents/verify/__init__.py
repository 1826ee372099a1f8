"""Truth checks that need no model: is a sentence carried by its quote, is a quote in its source, who counts once."""
