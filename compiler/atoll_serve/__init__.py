# SPDX-License-Identifier: Apache-2.0
"""A local page that draws a chip and its networks again whenever a file of theirs is saved."""
