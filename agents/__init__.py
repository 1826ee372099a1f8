"""Dossier: the research manager you talk to. This package holds everything but the chat's entry, `app.py`."""
