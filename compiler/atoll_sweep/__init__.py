# SPDX-License-Identifier: Apache-2.0
"""Sweeps: many chips are asked about the same networks, here or on a cluster."""
