"""Names that are close to one that is not known, for messages."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 3


def close_names(name: str, known: Iterable[str], cutoff: float = 0.6, nearly: float = 0.8) -> list[str]:
    """Return what was perhaps meant: the one known name that is nearly this one, or else up to three that are like it.

    Args:
        name: Upper and lower case make no difference.
        known: Of two that differ by case alone, the last counts.
        cutoff: How alike they must be, from 0 to 1.
        nearly: From which similarity on only the best is returned; 1 for names in which one digit makes a difference.
    """
    from difflib import get_close_matches  # it costs more than a cached discovery

    by_lower = {item.lower(): item for item in known}
    best = get_close_matches(name.lower(), by_lower, n=1, cutoff=nearly)
    return [by_lower[match] for match in best or get_close_matches(name.lower(), by_lower, _MOST, cutoff)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `. Did you mean 'x'?`, the end of a sentence that says that a name is not known; nothing if none is close."""
    return one_of(close_names(name, known))


def one_of(close: Iterable[str]) -> str:
    """Return the same for names that were found to be close."""
    meant = " or ".join(map(repr, close))
    return f". Did you mean {meant}?" if meant else ""
