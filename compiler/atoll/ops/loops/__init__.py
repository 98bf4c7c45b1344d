# SPDX-License-Identifier: Apache-2.0
"""The loops that kernels of operators share."""
