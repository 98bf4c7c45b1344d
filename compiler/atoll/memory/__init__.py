# SPDX-License-Identifier: Apache-2.0
"""Stage 6: every byte of every pool and stack."""
