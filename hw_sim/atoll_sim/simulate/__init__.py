"""Run firmware on a model, and hand back what it did."""
