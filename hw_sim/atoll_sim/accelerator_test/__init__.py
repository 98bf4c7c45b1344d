# SPDX-License-Identifier: Apache-2.0
"""The conformance kit: an accelerator alone on a small chip, tried within the limits it names."""
