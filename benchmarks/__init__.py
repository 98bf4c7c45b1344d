"""Measurements of Atoll, beside a peer in the same run."""
