"""Remedies of a refused description: edits that were tried before they are printed."""
