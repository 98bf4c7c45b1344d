# SPDX-License-Identifier: Apache-2.0
"""What the host does with the registers of an accelerator to have it run an operator."""
