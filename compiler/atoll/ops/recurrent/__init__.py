# SPDX-License-Identifier: Apache-2.0
"""Operators that read and change states: what a network keeps from run to run."""
