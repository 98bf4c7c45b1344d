"""The accelerators that ship with Atoll, a folder each."""
