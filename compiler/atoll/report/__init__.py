"""Stage 10: what a person or a machine reads after a run."""
