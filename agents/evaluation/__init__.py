"""Quality on labelled data: one module per set, rows in, rows and a summary out. Nothing here is part of a run."""
