"""A local page of the builds of an output tree: those that run, and those that are done, side by side."""
