"""A static site of all plugins that the hub finds, without importing any."""
