# SPDX-License-Identifier: Apache-2.0
"""Atoll: describe a heterogeneous SoC once, derive its compiler, BSP and simulation."""

__version__ = "0.2.0"
