"""What each device may touch while each operator runs, and what accepts plans by their programs."""
