"""Operators that make one value of many, or share one out."""
