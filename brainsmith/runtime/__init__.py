"""Targets at work: their life cycle, what they prepare, and the manager that switches between them; knows no plugin."""
