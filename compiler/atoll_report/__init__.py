# SPDX-License-Identifier: Apache-2.0
"""One page that shows what the commands found: every figure in it is one of their JSON."""
