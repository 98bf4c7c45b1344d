# SPDX-License-Identifier: Apache-2.0
"""Stage 10: what a person or a machine reads after a run."""
