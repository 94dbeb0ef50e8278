"""What a report says of the build as a whole: its subject, its shortfalls, the files beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from brainsmith.figures import number
from brainsmith.report_fields import Fields, fields, first_text, items, text

# A link must lead into the report's folder: no scheme, no root.
_PLAIN = re.compile(r"[A-Za-z0-9_.-][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Subject:
    """What was built from what and for what; empty or None where the report does not say."""

    name: str
    file: str
    digest: str
    blueprint: str
    part: str
    clock_ns: float | None
    fps: float | None


def read_subject(report: Fields) -> Subject:
    """Read the model, the blueprint and its target."""
    model, blueprint = fields(report.get("model")), fields(report.get("blueprint"))
    file, target = first_text(model, "file"), fields(blueprint.get("target"))
    return Subject(
        PurePath(file.replace("\\", "/")).name or first_text(model, "name") or "model without a name",
        file,
        first_text(model, "digest"),
        first_text(blueprint, "file"),
        first_text(target, "part"),
        number(target.get("clock_ns")) or None,
        number(target.get("fps")) or None,
    )


def read_shortfalls(report: Fields) -> tuple[str, ...]:
    """Read what the build did not prove, as sentences."""
    return tuple(first_text(fields(entry), "text") for entry in items(report.get("shortfalls")))


def read_files(report: Fields) -> tuple[str, ...]:
    """Read the names of what lies beside the report; one that is no plain path below its folder is left out."""
    names = (text(name) for name in items(report.get("files")))
    return tuple(name for name in names if _PLAIN.fullmatch(name) and ".." not in name.split("/"))
