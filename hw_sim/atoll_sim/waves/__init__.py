# SPDX-License-Identifier: Apache-2.0
"""Waveforms of a simulation, with save files that show them by device and operator."""
