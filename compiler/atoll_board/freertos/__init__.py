# SPDX-License-Identifier: Apache-2.0
"""The networks as tasks of FreeRTOS: its configuration, and what joins it to the chip."""
