# SPDX-License-Identifier: Apache-2.0
"""Stage 5: placed graphs become loop programs and accelerator jobs."""
