# SPDX-License-Identifier: Apache-2.0
"""What people are told: errors with places, sizes, rows of cells, progress."""
