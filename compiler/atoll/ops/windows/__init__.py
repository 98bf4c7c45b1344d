# SPDX-License-Identifier: Apache-2.0
"""Operators that slide a window over an image, and dense layers."""
