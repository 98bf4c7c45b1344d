"""cocotb test modules; `atoll_sim.runner` runs them inside the simulator."""
