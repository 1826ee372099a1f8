"""Words and sentences, in any script; standard library and nupunkt only."""
