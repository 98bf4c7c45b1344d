# SPDX-License-Identifier: Apache-2.0
"""Stage 4: which device runs each operator, and where tensors must be copied."""
