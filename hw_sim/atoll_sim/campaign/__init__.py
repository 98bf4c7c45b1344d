# SPDX-License-Identifier: Apache-2.0
"""Campaigns: trials in turn, how far they are, how each ends. Other rooms say what is tried."""
