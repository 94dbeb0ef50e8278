"""Names of a package that are imported when they are asked for (PEP 562): importing the package costs nothing."""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], *others: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    Args:
        package: Its name; a name that was asked for once is an attribute of it from then on.
        homes: The module of each name; all are of this project.
        *others: Further names of the package, which it lists too.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(homes[name]), name)
        vars(sys.modules[package])[name] = value
        return value

    return get, lambda: sorted({*homes, *others})
