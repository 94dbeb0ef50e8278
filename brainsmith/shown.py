"""Values and errors as messages show them."""

from __future__ import annotations

from brainsmith.errors import BrainsmithError

LONGEST = 200
"""The characters of a value that a message shows; the rest of a longer one is left out."""


def shown(value: object) -> str:
    """Return what `repr` gives, cut where it is long: what a file holds may have megabytes."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no number of more than some thousand digits
        return "a number of too many digits"
    return cut(text)


def cut(text: str) -> str:
    """Return a text, or the beginning of a long one with how long it is."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def error_text(error: BaseException) -> str:
    """Return what an error says; of one that is not ours, its type too."""
    return str(error) if isinstance(error, BrainsmithError) else typed_text(error)


def typed_text(error: BaseException) -> str:
    """Return an error's type and what it says; many say nothing, such as `MemoryError` and a bare `assert`."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
