"""Stage 8: linker script, startup, headers, runtime and drivers."""
