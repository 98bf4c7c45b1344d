# SPDX-License-Identifier: Apache-2.0
"""What a run starts from: build folders."""
