# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per command, and only the command that runs is imported."""

from atoll.cli.app import app, main

__all__ = ["app", "main"]
