# SPDX-License-Identifier: Apache-2.0
"""Networks larger than their memory: chains of operators cut into stripes of rows."""
