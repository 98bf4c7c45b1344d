"""The chip as devicetrees, with bindings for what is in them."""
