"""Which device reaches which pool, and which DMA engine moves between them."""
