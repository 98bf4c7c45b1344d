# SPDX-License-Identifier: Apache-2.0
"""Runs and estimates as traces for Perfetto."""
