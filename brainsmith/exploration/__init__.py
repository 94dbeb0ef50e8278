"""Many builds of one design space: which points there are, and what they share."""
