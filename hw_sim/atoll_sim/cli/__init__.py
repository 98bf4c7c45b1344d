# SPDX-License-Identifier: Apache-2.0
"""The commands that need the simulator, one module each."""
