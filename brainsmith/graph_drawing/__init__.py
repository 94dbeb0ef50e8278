"""Graphs as SVG: a model's graph and a circuit's block diagram are laid out, and their boxes drawn, alike."""
