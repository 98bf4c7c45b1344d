# SPDX-License-Identifier: Apache-2.0
"""What runs reached, of a chip's RTL and of what its description lets devices do."""
