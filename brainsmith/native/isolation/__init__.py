"""Native libraries in processes of their own: shared memory, the worker, and ops that run there."""
