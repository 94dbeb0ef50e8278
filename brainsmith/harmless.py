"""Texts of others as a terminal may get them: names and messages come out of models, plugins and reports."""

from __future__ import annotations

STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2"}
"""The codes of our own styles, which are left as they are."""

_ESCAPE = "\x1b"
_OWN_CODES = tuple(f"[{code}m" for code in (*STYLES.values(), "0"))
_TURNS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What changes the direction in which a terminal writes."""
_WRITTEN_OUT = {
    code: ascii(chr(code))[1:-1]
    for code in (*range(0x20), *range(0x7F, 0xA0), *_TURNS)
    if chr(code) not in "\t\n\x1b"
}


def harmless(text: str) -> str:
    """Return a text in which what would do something to a terminal is written out, but for our own styles.

    It must not move the cursor, rename the window or change the direction of writing.
    """
    first, *others = text.translate(_WRITTEN_OUT).split(_ESCAPE)
    return first + "".join((_ESCAPE if part.startswith(_OWN_CODES) else r"\x1b") + part for part in others)
