"""From a resolved SoC to the top level of its RTL."""
