# SPDX-License-Identifier: Apache-2.0
"""The shadow memory: holds every access against the contract."""
