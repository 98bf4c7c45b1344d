"""What a run starts from: build folders."""
