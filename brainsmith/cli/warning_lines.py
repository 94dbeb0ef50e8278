"""Warnings of Python and of frameworks, as a command prints them."""

from __future__ import annotations

from brainsmith.harmless import harmless


def one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning as one line with its place, without the source that Python shows with it."""
    place = "/".join(filename.split("/")[-3:])
    return harmless(f"warning: {' '.join(str(message).split())} ({place}:{lineno})\n")
