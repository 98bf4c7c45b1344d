# SPDX-License-Identifier: Apache-2.0
"""Stage 3: model files become graphs."""
