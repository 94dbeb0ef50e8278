"""Whether a gradient is the derivative that it should be."""
