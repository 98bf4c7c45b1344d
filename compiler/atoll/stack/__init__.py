# SPDX-License-Identifier: Apache-2.0
"""The most stack that a program can use: from its loops, and from the machine code of its image."""
