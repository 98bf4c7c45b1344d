# SPDX-License-Identifier: Apache-2.0
"""Who plays cores and accelerators: what each kind promises, and which is asked for."""
