# SPDX-License-Identifier: Apache-2.0
"""The version, which the package, commands and written documents name."""

__version__ = "0.2.0"
