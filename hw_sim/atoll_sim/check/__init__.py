# SPDX-License-Identifier: Apache-2.0
"""Hold what a run did against reference, contract and limits."""
