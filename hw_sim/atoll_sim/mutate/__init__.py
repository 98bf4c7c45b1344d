"""Faults planted on purpose, and who notices: the body of `atoll validate --mutants`."""
