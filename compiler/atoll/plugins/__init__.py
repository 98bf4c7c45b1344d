# SPDX-License-Identifier: Apache-2.0
"""Parts by name: Atoll's own, and those of other packages."""
