# SPDX-License-Identifier: Apache-2.0
"""What a network takes on a chip before anything is built or simulated."""
