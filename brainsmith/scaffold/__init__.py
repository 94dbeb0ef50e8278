"""Projects and plugins to begin with: what `brainsmith init` and `brainsmith new` write."""

from __future__ import annotations

KINDS = ("transform", "kernel", "backend", "step", "op", "target", "package")
"""What `brainsmith new` makes."""
