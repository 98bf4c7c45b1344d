"""Stage 6: every byte of every pool and stack."""
