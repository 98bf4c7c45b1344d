# SPDX-License-Identifier: Apache-2.0
"""Single passes over graphs and loop programs in text: what `atoll opt` runs."""
