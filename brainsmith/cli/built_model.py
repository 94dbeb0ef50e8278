"""Whether a build's folder is that of a model: two that are run side by side must be one network."""

from __future__ import annotations

import json
from pathlib import Path

from brainsmith.errors import UsageError


def check_built_of(model: str, folder: str) -> None:
    """Refuse the folder of another model's build.

    A model that lies in the folder, such as a checkpoint, is of its build. A folder without a report, such as a
    package alone, does not say what it was built of, and is taken.

    Args:
        model: An .onnx file.
        folder: Of a build.

    Raises:
        UsageError: Its report names another model.
        ModelError: The model cannot be built.
    """
    if Path(folder).resolve() in Path(model).resolve().parents:
        return
    digest, file = _origin(Path(folder) / "report.json")
    if not digest:
        return
    from brainsmith.build.model import read_for_build

    if read_for_build(model).digest != digest:
        raise UsageError(
            f"{folder} is the build of {file}, and {model} is another model, or was changed since: give --build the "
            "folder of its own build, or build it again"
        )


def _origin(report: Path) -> tuple[str, str]:
    """Return the digest of the model that was built, and its file; nothing if the report does not say."""
    try:
        found = json.loads(report.read_text(encoding="utf-8"))["model"]
        return str(found["digest"]), str(found["file"] or "a model that was in memory")
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
