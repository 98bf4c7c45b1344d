# SPDX-License-Identifier: Apache-2.0
"""What differs between two chips, or between two builds, in words of the description."""
