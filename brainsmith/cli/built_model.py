"""Whether a build's folder is that of a model: two that are run side by side must be one network."""

from __future__ import annotations

from pathlib import Path

from brainsmith.errors import UsageError
from brainsmith.store.files import read_json_table


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
    found = read_json_table(Path(folder) / "report.json").get("model")
    origin = found if isinstance(found, dict) else {}
    if not origin.get("digest"):
        return
    from brainsmith.build.model import read_for_build

    if read_for_build(model).digest != origin["digest"]:
        raise UsageError(
            f"{folder} is the build of {origin.get('file') or 'a model that was in memory'}, and {model} is another "
            "model, or was changed since: give --build the folder of its own build, or build it again"
        )
