"""Operators: shape rules, exact reference and lowering, one file per family."""
