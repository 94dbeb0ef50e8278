"""What a plugin raised in the worker of another environment, as an error of this process."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ForeignPluginError, PluginLoadError

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo


def failure(info: PluginInfo, answer: dict[str, Any], where: str = "") -> Exception:
    """Return what a plugin raised, as an error of this process; the worker's traceback is a note of it.

    Args:
        info: The plugin.
        answer: Of the worker.
        where: What to begin with, such as the node of an op.
    """
    text = f"{answer['error']}: {answer['text']}" if answer["text"] else answer["error"]
    place = f" ({answer['place']})" if answer["place"] else ""
    environment = info.extra["environment"]
    error: Exception
    if answer["phase"] == "import":
        error = PluginLoadError(
            f"{info.type} {info.qualified!r} ({info.origin}) cannot be loaded: importing {info.import_name!r} in "
            f"environment {environment!r} raised {text}{place}"
        )
    elif answer["phase"] == "model":
        error = ForeignPluginError(
            f"environment {environment!r} cannot read the model: {text}{place}; it needs onnx and qonnx for "
            f"{info.type} {info.qualified!r}"
        )
    else:
        error = ForeignPluginError(f"{where}{text}{place}, in environment {environment!r}")
    error.add_note(f"In the worker of environment {environment!r}:\n{answer['trace']}")
    return error
