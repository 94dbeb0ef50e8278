"""How deep the FIFOs of a design must be."""
