# SPDX-License-Identifier: Apache-2.0
"""Operators that make one value of many, or share one out."""
