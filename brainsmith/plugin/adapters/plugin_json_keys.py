"""What each key of `plugin.json` may say."""

from __future__ import annotations

import os
import sys
from keyword import iskeyword

from brainsmith import TYPE_CHECKING
from brainsmith.errors import BundleDefinitionError
from brainsmith.plugin.precedence import ADAPTED, OURS
from brainsmith.plugin.version import Version, VersionRange
from brainsmith.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

ISOLATIONS = ("none", "process")
"""Where a native library can run: in this process, or in one of its own."""

_SUFFIXES = {"darwin": ("lib", ".dylib"), "win32": ("", ".dll")}


def whole_number(digits: str) -> float:
    """Convert the digits of a whole number in JSON; one too large for any key may become a rounded or infinite float."""
    return int(digits) if len(digits) <= 18 else float(digits)


def check_name(name: object) -> None:
    """Check the name of a bundle.

    Raises:
        BundleDefinitionError: It is no identifier, or the name of a framework that is there already.
    """
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise BundleDefinitionError(f"the name of a bundle must be a Python identifier, not {shown(name)}")
    if name in (*OURS, *ADAPTED):
        raise BundleDefinitionError(f"the name of a bundle must not be that of the framework {name!r}")


def disagreements(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong among what a bundle states, though each value is right: one of the keys, and why."""
    oldest, newest = stated["min_brainsmith_version"], stated.get("max_brainsmith_version")
    if newest is not None and newest < oldest:
        yield (
            "max_brainsmith_version",
            f"max_brainsmith_version {newest} is below min_brainsmith_version {oldest}",
        )
    if stated["name"] in dict(stated.get("depends_on", ())):
        yield "depends_on", f"the bundle {stated['name']!r} cannot depend on itself"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BundleDefinitionError(f"it must be text, not {shown(value)}")
    return value


def _name(value: Any) -> str:
    check_name(value)
    return str(value)


def _library(value: Any) -> str:
    """Return a library's path; one without a suffix is called as this platform calls libraries."""
    path = _relative(value)
    if os.path.splitext(path)[1] in (".so", ".dylib", ".dll"):
        return path
    before, after = _SUFFIXES.get(sys.platform, ("lib", ".so"))
    folder, stem = os.path.split(path)
    return os.path.join(folder, f"{before}{stem}{after}")


def _module(value: Any) -> str:
    path = _relative(value)
    if not path.endswith(".py") or not os.path.basename(path)[:-3].isidentifier() or os.path.dirname(path):
        raise BundleDefinitionError(
            f"it must be a Python file in the same folder such as 'my_bundle.py', not {shown(value)}"
        )
    return path


def _relative(value: Any) -> str:
    if not isinstance(value, str) or not value or os.path.isabs(value):
        raise BundleDefinitionError(f"it must be a path from this file's folder, not {shown(value)}")
    return os.path.normpath(value)


def _sha256(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 64 or not set(value.lower()) <= set("0123456789abcdef"):
        raise BundleDefinitionError(f"it must be 64 hexadecimal digits, not {shown(value)}")
    return value.lower()


def _needs(value: Any) -> tuple[tuple[str, VersionRange], ...]:
    if not isinstance(value, dict):
        raise BundleDefinitionError(f'it must be a table such as {{"base": ">=1.0"}}, not {shown(value)}')
    for name in value:
        check_name(name)
    return tuple((name, VersionRange(versions)) for name, versions in value.items())


def _ops(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(name, str) and name.isidentifier() for name in value
    ):
        raise BundleDefinitionError(f"it must be a list of names of ops, not {shown(value)}")
    return tuple(value)


def _isolation(value: Any) -> str:
    if value not in ISOLATIONS:
        raise BundleDefinitionError(f"it must be {' or '.join(map(repr, ISOLATIONS))}, not {shown(value)}")
    return str(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise BundleDefinitionError(f"it must be a number of seconds above 0, not {shown(value)}")
    return float(value)


KEYS: dict[str, Callable[[Any], Any]] = {
    "name": _name,
    "version": Version.parse,
    "description": _text,
    "author": _text,
    "license": _text,
    "min_brainsmith_version": Version.parse,
    "max_brainsmith_version": Version.parse,
    "library": _library,
    "module": _module,
    "sha256": _sha256,
    "depends_on": _needs,
    "ops": _ops,
    "isolation": _isolation,
    "time_limit": _seconds,
}
"""What the file may say, with what makes a value of each."""
