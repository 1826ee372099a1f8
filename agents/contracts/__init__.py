"""Frozen contracts: everything that crosses a boundary between roles, steps, stores and faces."""
