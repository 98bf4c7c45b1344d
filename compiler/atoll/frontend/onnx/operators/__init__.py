# SPDX-License-Identifier: Apache-2.0
"""What becomes of the nodes of an ONNX file, a module per family."""
