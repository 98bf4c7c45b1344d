# SPDX-License-Identifier: Apache-2.0
"""Runs a user's own cocotb tests on a chip."""
