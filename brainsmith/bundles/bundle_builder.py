"""Build a bundle field by field: `BundleBuilder().name("acme").version("1.0.0")....build()`."""

from __future__ import annotations

import sys
from typing import Any

from brainsmith.bundles.bundle import Bundle, BundleInfo
from brainsmith.errors import BundleDefinitionError
from brainsmith.plugin.adapters.plugin_json_keys import check_name
from brainsmith.plugin.version import Version, VersionRange

REQUIRED = ("name", "version", "description", "author", "min_brainsmith_version")
"""The fields without which no bundle is built."""


class BundleBuilder:
    """Collects what a bundle states about itself. All but `license`, `max_brainsmith_version` and `depends_on` is required.

    Versions are given as `Version` or as text `"1.0.0"`.
    """

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._needs: dict[str, VersionRange] = {}

    def name(self, name: str) -> BundleBuilder:
        """State the name: a Python identifier."""
        return self._text("name", name)

    def version(self, version: Version | str) -> BundleBuilder:
        """State the bundle's own version."""
        return self._version("version", version)

    def description(self, description: str) -> BundleBuilder:
        """State in one line what the bundle is for."""
        return self._text("description", description)

    def author(self, author: str) -> BundleBuilder:
        """State who wrote it."""
        return self._text("author", author)

    def license(self, expression: str) -> BundleBuilder:
        """State its licence as an SPDX expression; it holds for the bundle's plugins too, where they state none."""
        return self._text("license", expression)

    def min_brainsmith_version(self, version: Version | str) -> BundleBuilder:
        """State the oldest host that it works with; a host with another major number is refused."""
        return self._version("min_brainsmith_version", version)

    def max_brainsmith_version(self, version: Version | str) -> BundleBuilder:
        """State the newest host that it works with."""
        return self._version("max_brainsmith_version", version)

    def depends_on(self, bundle: str, versions: str = "") -> BundleBuilder:
        """State that it needs another bundle, and which versions of it fit: `">=1.0"`, `">=1.0, <2"`."""
        check_name(bundle)
        self._needs[bundle] = VersionRange(versions)
        return self

    def build(self) -> Bundle:
        """Return the bundle.

        Raises:
            BundleDefinitionError: A field is missing or invalid.
        """
        missing = [field for field in REQUIRED if not self._fields.get(field)]
        if missing:
            calls = "".join(f".{field}(...)" for field in missing)
            raise BundleDefinitionError(f"a bundle needs {_and(missing)}: BundleBuilder(){calls}")
        frame = sys._getframe(1)
        origin = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return Bundle(BundleInfo(**self._fields, depends_on=tuple(self._needs.items())), origin)

    def _text(self, field: str, value: Any) -> BundleBuilder:
        if not isinstance(value, str):
            raise BundleDefinitionError(f"{field} of a bundle must be text, not {value!r}")
        self._fields[field] = value
        return self

    def _version(self, field: str, value: Version | str) -> BundleBuilder:
        try:
            self._fields[field] = value if isinstance(value, Version) else Version.parse(value)
        except BundleDefinitionError as error:
            raise BundleDefinitionError(f"{field} of a bundle: {error}") from None
        return self


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
