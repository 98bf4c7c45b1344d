# SPDX-License-Identifier: Apache-2.0
"""The front end of ONNX files; docs/onnx.md says what they may hold."""
