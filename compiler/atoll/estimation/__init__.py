"""What a network takes on a chip before anything is built or simulated."""
