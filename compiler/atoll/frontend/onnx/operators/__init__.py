"""What becomes of the nodes of an ONNX file, a module per family."""
