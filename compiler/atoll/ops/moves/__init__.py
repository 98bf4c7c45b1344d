"""Operators that move elements and compute none."""
