# SPDX-License-Identifier: Apache-2.0
"""What each device may touch while each operator runs, and what accepts plans by their programs."""
