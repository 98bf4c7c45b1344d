# SPDX-License-Identifier: Apache-2.0
"""cocotb test modules; `tests.benches.runner` runs them inside the simulator."""
