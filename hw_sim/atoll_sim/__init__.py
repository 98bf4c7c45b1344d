"""Co-simulation of cores, accelerators and memories, from the resolved description."""
