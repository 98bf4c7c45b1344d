"""Operators whose elements depend on one of every input."""
