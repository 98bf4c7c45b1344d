"""From a network to a plan: a search over candidates, each of which is a value."""
