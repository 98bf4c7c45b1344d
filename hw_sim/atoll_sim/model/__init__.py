# SPDX-License-Identifier: Apache-2.0
"""The C++ beside the model, and its Python side."""
