# SPDX-License-Identifier: Apache-2.0
"""Runs: networks on a simulated chip, checked; what linked images say of their networks."""
