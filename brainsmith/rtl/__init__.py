"""Circuits without a vendor tool: FINN's RTL library made readable for open tools, and its simulation."""
