# SPDX-License-Identifier: Apache-2.0
"""ripple, the DMA engine."""
