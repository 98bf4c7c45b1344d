"""Operators that slide a window over an image, and dense layers."""
