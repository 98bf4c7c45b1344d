# SPDX-License-Identifier: Apache-2.0
"""C99 from loop programs, for those who want to read what they link."""
