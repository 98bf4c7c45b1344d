# SPDX-License-Identifier: Apache-2.0
"""The chip as devicetrees, with bindings for what is in them."""
