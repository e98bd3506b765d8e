"""A planted trigger: which models use it, and how often each explanation finds it."""
