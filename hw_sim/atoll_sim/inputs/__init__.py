"""What a run starts from: samples, files by network, build folders."""
