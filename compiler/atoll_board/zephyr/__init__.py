# SPDX-License-Identifier: Apache-2.0
"""A Zephyr module: the chip as a board and a SoC of Zephyr, and its networks as a library."""
