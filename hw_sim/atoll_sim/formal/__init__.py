# SPDX-License-Identifier: Apache-2.0
"""Formal proofs of RTL, with Yosys and ABC (docs/formal.md)."""
