# SPDX-License-Identifier: Apache-2.0
"""Labelled samples: how often a network is right, on the host's own code and on the chip."""
