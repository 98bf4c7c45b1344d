# SPDX-License-Identifier: Apache-2.0
"""What engines that are driven by lists of commands share (docs/reef.md, docs/ripple.md)."""
