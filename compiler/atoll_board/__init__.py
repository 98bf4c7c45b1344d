# SPDX-License-Identifier: Apache-2.0
"""The board support package that a firmware team takes over, in the formats of the trade."""
