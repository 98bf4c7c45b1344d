# SPDX-License-Identifier: Apache-2.0
"""Measure in RTL what instructions take on a core: what `atoll core calibrate` runs."""
