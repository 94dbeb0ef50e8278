"""Run one model on several targets, and say where they first differ."""
