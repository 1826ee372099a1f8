"""Dossier: the research manager you talk to. This package holds everything but the chat's entry, `app.py`."""

import os

# Nobody plugs anything into its contracts: to look for it among all that is installed takes 40 ms of every start.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
