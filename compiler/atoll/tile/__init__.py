"""Networks larger than their memory: chains of operators cut into stripes of rows."""
