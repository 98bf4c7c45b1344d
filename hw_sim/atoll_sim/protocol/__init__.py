"""The protocol's numbers and records, and the headers for C++ and RTL that are made from them."""
