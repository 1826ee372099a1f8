"""`python -m agents …`."""

from agents.cli.main import main

main()
