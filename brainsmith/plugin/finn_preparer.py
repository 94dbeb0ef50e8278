"""Prepare FINN when something first imports a part of it, and not before."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare_finn_when_imported() -> None:
    """Let FINN's own modules be imported as ever from now on, by users and by plugins; nothing happens before that."""
    if FinnPreparer not in sys.meta_path:
        sys.meta_path.insert(0, FinnPreparer)


class FinnPreparer:
    """Prepares FINN, which wants torch and a set-up Vivado before it imports, when something first imports a part of it.

    So FINN's own modules, its builder among them, are imported as ever, and a plugin's file need not say that it does.
    """

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        """Prepare FINN at the first of its modules; return that one's spec, and None of all others."""
        if not fullname.startswith("finn."):
            return None
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
        if FinnPreparer in sys.meta_path:
            sys.meta_path.remove(FinnPreparer)
        specs = (finder.find_spec(fullname, path, target) for finder in list(sys.meta_path))
        return next((spec for spec in specs if spec is not None), None)
