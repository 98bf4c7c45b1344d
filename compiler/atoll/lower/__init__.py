"""Stage 5: placed graphs become loop programs and accelerator jobs."""
