# SPDX-License-Identifier: Apache-2.0
"""Arm's Ethos-U55 and U65, whose commands are Vela's: descriptions, and a model of their border."""
