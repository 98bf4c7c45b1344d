# SPDX-License-Identifier: Apache-2.0
"""Plans, and bare planning problems, as files that other tools read and write."""
