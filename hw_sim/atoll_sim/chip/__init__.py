# SPDX-License-Identifier: Apache-2.0
"""From a resolved SoC to the top level of its RTL."""
