"""cocotb test modules; `tests.benches.runner` runs them inside the simulator."""
