"""Values that are computed when they are asked for, elementwise calls as one loop."""
