# SPDX-License-Identifier: Apache-2.0
"""Operators whose elements depend on one of every input."""
