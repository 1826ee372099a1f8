"""The work itself: scoping, contract, and the tree of executors and leaves. Written against the job port alone."""
