"""Where the sources of plugins can be read: on this machine, or where a framework is published."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from brainsmith.close_names import did_you_mean
from brainsmith.errors import UsageError
from brainsmith.plugin.precedence import framework_identifier

if TYPE_CHECKING:
    from brainsmith.web.catalogue.entry import CatalogueEntry

NONE = "none"
"""In place of an address: no links to a framework's sources."""

_FIELDS = ("path", "line", "version")
_FIELD = re.compile(r"\{(\w*)\}")


class SourceLinks:
    """The address of each plugin's source.

    Args:
        stated: `FRAMEWORK=URL` for each framework whose sources are published; `{path}`, `{line}` and `{version}` in the
            URL are replaced. `FRAMEWORK=none`: no links. Others link to the files of this machine.
        frameworks: Of the plugins.

    Raises:
        UsageError: What is stated is no such text, or names no framework.
    """

    def __init__(self, stated: Iterable[str], frameworks: Iterable[str]) -> None:
        known = {framework_identifier(name): name for name in frameworks}
        self._urls: dict[str, str] = {}
        for text in stated:
            framework, equals, url = text.partition("=")
            if not equals or not framework:
                raise UsageError(f"--source must be FRAMEWORK=URL or FRAMEWORK={NONE}, not {text!r}")
            name = known.get(framework_identifier(framework))
            if name is None:
                close = did_you_mean(framework, sorted(known.values()))
                raise UsageError(
                    f"--source: no plugin has the framework {framework!r}{close}\n"
                    f"  the frameworks are {', '.join(sorted(known.values()))}"
                )
            self._urls[name] = _checked(url)

    def address(self, entry: CatalogueEntry) -> str:
        """Return the address of a plugin's source; empty where there is none."""
        url = self._urls.get(entry.info.framework)
        if url == NONE or not entry.info.file:
            return ""
        if url is None:
            return _file_address(Path(entry.info.file))
        values = {
            "path": quote(entry.source, errors="replace"),
            "line": str(entry.info.line),
            "version": quote(entry.provider.version or entry.info.version, safe="", errors="replace"),
        }
        return _FIELD.sub(lambda found: values[found[1]], url)


def _file_address(path: Path) -> str:
    """Return the address of a file of this machine; empty where no file can have this path."""
    try:
        return path.as_uri()
    except ValueError:  # it is relative, or has characters that no file name has
        return ""


def _checked(url: str) -> str:
    if url == NONE:
        return url
    if not re.match(r"https?://[^/\s]", url):
        raise UsageError(f"--source: a URL must begin with https:// or http://, not {url!r}")
    for name in _FIELD.findall(url):
        if name not in _FIELDS:
            raise UsageError(
                f"--source: {{{name}}} in {url!r} is unknown; known are {', '.join(f'{{{one}}}' for one in _FIELDS)}"
            )
    return url
