# SPDX-License-Identifier: Apache-2.0
"""The RTL of a chip as a folder that other tools read: lists, constraints, a bench."""
