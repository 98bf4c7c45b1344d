"""ripple, the DMA engine."""
