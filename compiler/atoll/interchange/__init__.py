"""Plans, and bare planning problems, as files that other tools read and write."""
