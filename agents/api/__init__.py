"""HTTP routes beside the chat, and the server that carries both."""
