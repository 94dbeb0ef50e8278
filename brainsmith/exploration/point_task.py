"""What a worker is asked to build: a point, with all files that it needs by their content, so that it can travel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from brainsmith.blueprint.space.space import Space
from brainsmith.errors import ExplorationError
from brainsmith.runtime.file_facts import facts_of
from brainsmith.store.fingerprint import digest

BLUEPRINT = "blueprint.yaml"
"""A point's, in its folder."""

_MODELS, _FILES = "models", "files"


@dataclass(frozen=True)
class PointFiles:
    """A point's model and blueprint, and the files that these name.

    Attributes:
        model: Its file.
        blueprint: The text of its blueprint, whose files are named as in `files`.
        files: Where each file lies, by a relative name that its content gives; the same name, the same content.
    """

    model: str
    blueprint: str
    files: Mapping[str, str]

    @property
    def model_name(self) -> str:
        """The model's name among the files."""
        return next(name for name, path in self.files.items() if path == self.model)

    def key(self, environment: str) -> str:
        """Return what stands for the point: what it is built from, and with what; not where that lies."""
        return digest(json.dumps([sorted(self.files), self.blueprint, environment]))


def files_of(space: Space, choices: Mapping[str, int], model: str) -> PointFiles:
    """Read what a point is built from.

    Args:
        space: Of the point.
        choices: The point.
        model: Its model's file, which exists.

    Raises:
        BlueprintError: All problems of the point.
        ExplorationError: The model keeps weights outside of its folder, or a file cannot be read.
    """
    files: dict[str, str] = {}

    def named(path: str) -> str:
        if not Path(path).is_file():  # its build says so
            return path
        name = f"{_FILES}/{_facts(path, False).digest}{Path(path).suffix}"
        files[name] = path
        return name

    blueprint = space.text(choices, named)
    return PointFiles(model, blueprint, {**_model_files(Path(model)), **files})


def _model_files(model: Path) -> dict[str, str]:
    facts = _facts(str(model), True)
    for name in facts.external:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts:
            raise ExplorationError(f"{model} keeps weights in {name}, which is outside of its folder")
    beside = {name: str(model.parent / name) for name in facts.external}
    content = digest(json.dumps([facts.digest, *(_facts(path, False).digest for path in beside.values())]))
    return {f"{_MODELS}/{content}/{name}": path for name, path in {model.name: str(model), **beside}.items()}


def _facts(path: str, is_model: bool) -> Any:
    try:
        return facts_of(Path(path), is_model)
    except OSError as error:
        raise ExplorationError(f"{path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True)
class PointTask:
    """One point to be built to one fidelity.

    Attributes:
        key: Of the point.
        files: What it is built from.
        folder: Of the point, with its blueprint.
        fidelity: How far.
        use_cache: Whether steps may be reused.
    """

    key: str
    files: PointFiles
    folder: Path
    fidelity: str
    use_cache: bool = True

    @property
    def output(self) -> Path:
        """Where its build goes."""
        return self.folder / self.fidelity

    def here(self) -> dict[str, Any]:
        """Return what a worker of this machine is asked."""
        return asked(self.files.model, self.folder / BLUEPRINT, self.output, self.fidelity, self.use_cache)


def asked(model: str, blueprint: Path, output: Path, fidelity: str, use_cache: bool) -> dict[str, Any]:
    """Return the words of a task, as `point_worker` reads them."""
    return {
        "model": model,
        "blueprint": str(blueprint),
        "output": str(output),
        "fidelity": fidelity,
        "use_cache": use_cache,
    }
