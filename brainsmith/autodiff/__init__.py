"""Ops and their gradients: the op interface, the tape, layers, compiled ops. It knows no plugin."""
