# SPDX-License-Identifier: Apache-2.0
"""Which device reaches which pool, and which DMA engine moves between them."""
