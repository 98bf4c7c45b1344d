"""Instruction sets: how a description names them, and what compilers are told of each."""
