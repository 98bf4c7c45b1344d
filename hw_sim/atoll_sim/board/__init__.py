# SPDX-License-Identifier: Apache-2.0
"""A flashed board at a serial line: the host's side of the protocol of docs/board.md."""
