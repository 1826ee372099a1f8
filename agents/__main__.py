"""`python -m agents …`."""

from agents.cli import main

main()
