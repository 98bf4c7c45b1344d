"""The front end of ONNX files; docs/onnx.md says what they may hold."""
