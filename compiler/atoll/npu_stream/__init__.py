# SPDX-License-Identifier: Apache-2.0
"""What the register commands of an Ethos-U touch, read without anything that made or moves them."""
