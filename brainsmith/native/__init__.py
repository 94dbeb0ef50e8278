"""Native libraries as bundles of ops: the C interface, probing, loading, isolation."""
