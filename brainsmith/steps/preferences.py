"""Which backend each kernel is to have: `cfg.kernel_preferences`."""

from __future__ import annotations

from typing import Any

ANY_KERNEL = "*"


def preferred_backends(cfg: Any, kernel: str) -> tuple[str, ...]:
    """Return the backend types that a kernel may have, the preferred one first; empty if nothing is said.

    `cfg.kernel_preferences` maps a kernel's name, or "*" for all others, to such a tuple. FINN's own config
    has none: then FINN chooses.
    """
    preferences = getattr(cfg, "kernel_preferences", None) or {}
    return tuple(preferences.get(kernel) or preferences.get(ANY_KERNEL) or ())


def prefers_rtl(cfg: Any, kernel: str) -> bool:
    """Tell whether RTL is the first choice for a kernel."""
    return preferred_backends(cfg, kernel)[:1] == ("rtl",)
