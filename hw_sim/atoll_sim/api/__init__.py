# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `import atoll`."""
