# SPDX-License-Identifier: Apache-2.0
"""reef, the convolution accelerator."""
