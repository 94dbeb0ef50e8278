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
        value = getattr(__import__(homes[name], fromlist=[name]), name)  # as `from home import name` does
        vars(sys.modules[package])[name] = value
        return value

    return get, lambda: sorted({*homes, *others})


def homes_of(file: str) -> dict[str, str]:
    """Return the module of each name that a package's file imports for type checkers alone.

    So that its names stand once, as `from brainsmith.build.build_model import build as build` below `if TYPE_CHECKING:`.
    """
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123  (pathlib would take longer)
        words = [line.split() for line in lines if line.startswith("    from ")]
    return {line[3]: line[1] for line in words if line[4:] == ["as", line[3]]}
