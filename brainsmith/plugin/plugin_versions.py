"""Versions of plugins, in the form of Python's packages (PEP 440): which one a plugin has, which is higher or accepted."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version

    from brainsmith.plugin.info import PluginInfo


def version_of(info: PluginInfo) -> str:
    """Return a plugin's version: what it states, or else that of the distribution that brings it; empty if neither."""
    return info.version or str(info.extra.get("distribution_version", ""))


def version_rank(info: PluginInfo) -> _Descending:
    """Return what to sort records by so that the highest version comes first, and none, or one that is no version, last."""
    return _Descending(version_of(info))


class _Descending:
    """A version that sorts before lower ones."""

    def __init__(self, text: str) -> None:
        from packaging.version import InvalidVersion, Version  # hardly any name has two providers of one rank

        try:
            self._version: Version | None = Version(text)
        except InvalidVersion:
            self._version = None

    def __lt__(self, other: _Descending) -> bool:
        if self._version is None or other._version is None:
            return self._version is not None and other._version is None
        return self._version > other._version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self._version == other._version

    def __hash__(self) -> int:
        return hash(self._version)


def is_within(version: str, versions: str) -> bool:
    """Tell whether a version is one of some; a text that is no version (PEP 440) is in none.

    Args:
        version: Such as `2.1`.
        versions: Comparisons, such as `>=2,<3`.
    """
    from packaging.specifiers import SpecifierSet  # hardly any plugin asks for versions
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(versions).contains(version, prereleases=True)
    except InvalidVersion:
        return False


def versions_problem(versions: object) -> str:
    """Return what is wrong with a text of comparisons; nothing if it is one."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # hardly any plugin asks for versions

    try:
        SpecifierSet(versions if isinstance(versions, str) else "?")
    except InvalidSpecifier:
        hint = comparison_hint(versions) if isinstance(versions, str) else ""
        return f"versions must be comparisons such as '>=2,<3' or '~=1.6', not {versions!r}{hint}"
    return ""


def comparison_hint(text: str) -> str:
    """Return how a comparison that is nearly one is written; nothing if it is near to none.

    Args:
        text: Comparisons, or a requirement with some: `numpy~=9` gives `; '~=' needs two numbers or more: '~=9.0'`.
    """
    import re  # only where a comparison is wrong

    for one in text.partition(";")[0].split(","):
        if found := re.search(r"~=\s*(\d+)\s*$", one):
            return f"; '~=' needs two numbers or more (PEP 440): '~={found[1]}.0' is '>={found[1]}.0,<{int(found[1]) + 1}'"
        if found := re.search(r"=([<>])", one):
            return f"; '={found[1]}' is written '{found[1]}='"
        if re.search(r"(?<![<>=!~])=(?!=)", one):
            return "; equal is written '=='"
    return ""
