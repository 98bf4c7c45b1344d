"""Operators that read and change states: what a network keeps from run to run."""
