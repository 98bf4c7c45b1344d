"""Stage 3: model files become graphs."""
