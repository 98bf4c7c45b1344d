# SPDX-License-Identifier: Apache-2.0
"""Co-simulation of cores, accelerators and memories, from the resolved description."""
