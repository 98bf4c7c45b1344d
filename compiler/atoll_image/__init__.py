# SPDX-License-Identifier: Apache-2.0
"""Hold a linked image, whoever linked it, against the chip."""
