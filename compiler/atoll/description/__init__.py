# SPDX-License-Identifier: Apache-2.0
"""Stage 1: the SoC and its accelerators as their authors wrote them."""
