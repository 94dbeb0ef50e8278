"""What open tools cannot read in FINN's RTL library, and how each place is altered: the rules of `rules.yaml`.

FINN's sources are never copied into this project. A rule names the text that it expects in the installed library
and what takes its place; where the text is missing, or occurs more or less often than expected, nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brainsmith.errors import RtlSourceError
from brainsmith.yaml_file import packaged_table


@dataclass(frozen=True)
class Rule:
    """One alteration of some of the library's files.

    Attributes:
        name: How messages and reports call it.
        files: Paths relative to the library.
        why: What an open tool says to the text as it is.
        pattern: A regular expression; `.` matches line ends too.
        replacement: As `re.sub` takes it.
        count: How often the pattern must match in each file.
    """

    name: str
    files: tuple[str, ...]
    why: str
    pattern: str
    replacement: str
    count: int = 1

    def apply(self, file: str, text: str, library: str) -> str:
        """Alter one file's text.

        Args:
            file: Its path relative to the library; for the message.
            text: The whole file.
            library: The library's name and version; for the message.

        Raises:
            RtlSourceError: The text that the rule expects is missing, or occurs more or less often.
        """
        altered, found = re.subn(self.pattern, self.replacement, text, flags=re.DOTALL)
        if found != self.count:
            raise RtlSourceError(
                f"{library}: rule {self.name!r} must match {_times(self.count)} in {file}, but matches "
                f"{_times(found)}\n"
                f"  why it is needed: {self.why}\n"
                "  install the version of finn-plus that requirements/lock.txt names, or adapt the rule in "
                "brainsmith/rtl/library/rules.yaml"
            )
        return altered


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _rules(entries: list[dict[str, Any]]) -> tuple[Rule, ...]:
    return tuple(Rule(**{**entry, "files": tuple(entry["files"])}) for entry in entries)


_TABLE = packaged_table(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))

RULES = _rules(_TABLE["simulation"])
"""The rules for the modules that are simulated."""

TIMING_RULES = _rules(_TABLE["timing"])
"""What may be left out where only the cycles count in which beats move: `sizing/values_left_out.py`."""

SYNTHESIS_RULES = _rules(_TABLE["synthesis"])
"""What synthesis needs besides."""
