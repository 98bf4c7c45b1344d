"""What chip vendors' files say becomes a description to start from."""
