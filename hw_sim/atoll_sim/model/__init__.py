"""The C++ beside the model, and its Python side."""
