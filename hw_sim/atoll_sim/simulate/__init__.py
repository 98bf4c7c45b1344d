# SPDX-License-Identifier: Apache-2.0
"""Run firmware on a model, and hand back what it did."""
