# SPDX-License-Identifier: Apache-2.0
"""Operators: shape rules, exact reference and lowering, one file per family."""
