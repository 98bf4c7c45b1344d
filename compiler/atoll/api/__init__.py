# SPDX-License-Identifier: Apache-2.0
"""What `import atoll` offers, by subject; the names in `atoll.__all__` are public, no others."""
