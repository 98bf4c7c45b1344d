# SPDX-License-Identifier: Apache-2.0
"""Instruction sets: how a description names them, and what compilers are told of each."""
