"""The loops that kernels of operators share."""
