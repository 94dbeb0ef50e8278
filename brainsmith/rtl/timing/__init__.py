"""When layers take and give their beats, stated without a simulation."""
