# SPDX-License-Identifier: Apache-2.0
"""The native host in place of the cores, with models or RTL of the accelerators."""
