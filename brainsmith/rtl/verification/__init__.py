"""A design against its golden model: whole tensors in and out, cycles per frame."""
