"""Single passes over graphs and loop programs in text: what `atoll opt` runs."""
