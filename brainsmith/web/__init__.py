"""Static pages: the build report."""
