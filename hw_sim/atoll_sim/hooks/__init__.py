# SPDX-License-Identifier: Apache-2.0
"""What `atoll doctor` and `atoll check` ask of the simulator."""
