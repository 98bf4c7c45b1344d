"""Hold a linked image, whoever linked it, against the chip."""
