# SPDX-License-Identifier: Apache-2.0
"""Cores alone on a machine of QEMU: the same firmware, somebody else's machine model."""
