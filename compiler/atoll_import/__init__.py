# SPDX-License-Identifier: Apache-2.0
"""What chip vendors' files say becomes a description to start from."""
