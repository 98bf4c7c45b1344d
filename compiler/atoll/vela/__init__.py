# SPDX-License-Identifier: Apache-2.0
"""Subgraphs that Arm's Vela compiles for an Ethos-U: asked for, read, put into the graph."""
