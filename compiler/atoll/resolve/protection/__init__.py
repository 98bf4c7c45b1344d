# SPDX-License-Identifier: Apache-2.0
"""What the protection unit of a core lets through, and the registers that tell it so."""
