# SPDX-License-Identifier: Apache-2.0
"""Faults planted on purpose, and who notices: the body of `atoll validate --mutants`."""
