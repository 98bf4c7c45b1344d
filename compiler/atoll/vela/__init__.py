"""Subgraphs of a network that Arm's Vela compiles for an Ethos-U: asked, read, put into the graph."""
