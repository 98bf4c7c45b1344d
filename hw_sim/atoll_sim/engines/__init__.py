# SPDX-License-Identifier: Apache-2.0
"""The accelerators that ship with Atoll, a folder each."""
