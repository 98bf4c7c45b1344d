# SPDX-License-Identifier: Apache-2.0
"""The self-test of a chip: what its image tries, the log that it prints, and what a log means."""
