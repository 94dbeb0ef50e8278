"""Bundles: versioned packages of plugins with a life cycle, in Python or native."""
