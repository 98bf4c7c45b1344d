# SPDX-License-Identifier: Apache-2.0
"""Constants that a DMA engine copies to faster memory before an accelerator reads them."""
