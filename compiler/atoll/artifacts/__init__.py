# SPDX-License-Identifier: Apache-2.0
"""The folders that Atoll writes, and the samples that a run reads."""
