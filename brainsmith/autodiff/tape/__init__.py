"""Values that know how they were computed, and the way back through them."""
