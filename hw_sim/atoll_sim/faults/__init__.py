# SPDX-License-Identifier: Apache-2.0
"""Hardware faults: what they are, how a model suffers them, and how the chip ends each."""
