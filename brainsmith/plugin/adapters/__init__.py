"""Adapters: each finds the plugins of one source without importing them."""
