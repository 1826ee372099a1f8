"""Rounds of an executor: choose topics, run, decide."""
