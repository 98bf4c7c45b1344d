"""Hold what a run did against reference, contract and limits."""
