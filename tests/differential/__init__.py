# SPDX-License-Identifier: Apache-2.0
"""Random networks, run by Atoll and by TFLM; docs/differential.md says how to use them."""
