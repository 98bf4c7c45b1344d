# SPDX-License-Identifier: Apache-2.0
"""Remedies of a refused description: edits that were tried before they are printed."""
