"""Read FINN's RTL library from the installed package, altered by rule where open tools need it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import FrameworkUnavailableError, RtlSourceError
from brainsmith.plugin.package_files import distribution_version, package_folders
from brainsmith.rtl.library.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.library.rules import Rule

LIBRARY = "finn-rtllib"
"""The folder in FINN's package."""


@dataclass(frozen=True)
class RtlSource:
    """One file of a design, as open tools read it.

    Attributes:
        name: Its file name; in a plan each is there once.
        text: All of it.
        rules: The names of the rules that altered it.
    """

    name: str
    text: str
    rules: tuple[str, ...] = ()


class Library:
    """FINN's RTL library.

    Attributes:
        folder: Where it lies.
        version: The name and version of the distribution that installed it.
    """

    def __init__(self, folder: Path, version: str, rules: Sequence[Rule] = RULES) -> None:
        self.folder = folder
        self.version = version
        self._rules = tuple(rules)

    def read(self, path: str | Path) -> RtlSource:
        """Read a file.

        A file of the library, and an unchanged copy of one beside generated code, is altered by the rules that
        name it. Every other file is as it is.

        Args:
            path: Absolute, or relative to the library.

        Raises:
            RtlSourceError: The file does not exist, or is not what a rule expects.
        """
        full = self.folder / path
        try:
            text = full.read_text(encoding="utf-8")
        except OSError as error:
            raise RtlSourceError(f"{full}: cannot be read: {error}\n  generate the code again") from error
        except UnicodeDecodeError as error:
            raise RtlSourceError(
                f"{full}: is not UTF-8 text: {error.reason} at byte {error.start}\n  save it as UTF-8"
            ) from error
        applied = []
        unaltered = text
        for rule in self._rules:
            file = self._named_by(rule, full, unaltered)
            if file:
                text = rule.apply(file, text, self.version)
                applied.append(rule.name)
        return RtlSource(full.name, text, tuple(applied))

    def _named_by(self, rule: Rule, path: Path, text: str) -> str:
        """Return which of a rule's files this one is, or is a copy of; empty if none."""
        for file in rule.files:
            original = self.folder / file
            if path == original:
                return file
            if path.name == original.name and original.is_file() and original.read_text("utf-8") == text:
                return file
        return ""


def find_library() -> Library:
    """Find the library of the installed FINN without importing it.

    Raises:
        FrameworkUnavailableError: FINN is not installed, or without its RTL library.
    """
    for folder in package_folders("finn"):
        if (Path(folder) / LIBRARY).is_dir():
            return Library(Path(folder) / LIBRARY, f"finn-plus {distribution_version('finn')}".rstrip())
    raise FrameworkUnavailableError(
        f"FINN's RTL library ({LIBRARY}) is not installed, and circuits are made of it\n"
        "  pip install finn-plus==1.6.1, or what requirements/lock.txt names"
    )
