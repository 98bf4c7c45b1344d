"""Adapters of the CPU kinds: RTL cores and the native host."""
