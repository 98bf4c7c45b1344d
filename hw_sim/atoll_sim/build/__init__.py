"""From RTL to a model that runs: Verilator, once for each content."""
