# SPDX-License-Identifier: Apache-2.0
"""Measurements of Atoll, beside a peer in the same run."""
