"""Projects and plugins to begin with: what `brainsmith init` and `brainsmith new` write."""
