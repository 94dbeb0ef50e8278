"""Values as messages show them."""

from __future__ import annotations

LONGEST = 200
"""The characters of a value that a message shows; the rest of a longer one is left out."""


def shown(value: object) -> str:
    """Return what `repr` gives, cut where it is long: what a file holds may have megabytes."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no number of more than some thousand digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"
