"""Plugins of other Python environments: found by their sources, and run in a worker process of that environment."""
