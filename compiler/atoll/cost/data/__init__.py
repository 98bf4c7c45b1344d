# SPDX-License-Identifier: Apache-2.0
"""Numbers that formulas of costs use: a module for each core that was measured, and `assumed`."""
