"""reef, the convolution accelerator."""
