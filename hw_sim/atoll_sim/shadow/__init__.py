"""The shadow memory: holds every access against the contract."""
