# SPDX-License-Identifier: Apache-2.0
"""From RTL to a model that runs: Verilator, once for each content."""
