"""The modules that running a bundle's Python file brings: what the file imports from its own folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType


def modules_below(package: str) -> dict[str, ModuleType]:
    """Return the modules below a folder's that are imported, by name."""
    start = f"{package}."
    return {name: module for name, module in sys.modules.copy().items() if name.startswith(start)}


def drop(modules: Mapping[str, ModuleType]) -> None:
    """Have the next import of each module run its file again; what uses the module goes on."""
    for name, module in modules.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
        parent, _, child = name.rpartition(".")
        # `from . import x` takes the attribute and looks no further.
        if vars(sys.modules.get(parent, sys)).get(child) is module:
            delattr(sys.modules[parent], child)


def restore(modules: Mapping[str, ModuleType]) -> None:
    """Let modules be what the imports of their names give, as before `drop`."""
    for name, module in modules.items():
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
