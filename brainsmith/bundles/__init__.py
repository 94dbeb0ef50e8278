"""Bundles: versioned packages of ops and other plugins, with a life cycle. `brainsmith.plugins` is their public module."""
