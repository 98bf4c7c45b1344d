# SPDX-License-Identifier: Apache-2.0
"""Stage 8: linker script, startup, headers, runtime and drivers."""
