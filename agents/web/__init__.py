"""Documents as they come from disk or network: bytes to characters, HTML and Markdown to readable text."""
