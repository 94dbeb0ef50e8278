"""A quantised network as layers of integers: read once, in order, and written anew with channels last."""
