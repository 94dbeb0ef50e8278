"""What a bundle is loaded from: a library or a Python file, and the `plugin.json` beside it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BundleDefinitionError, BundleError
from brainsmith.plugin.adapters.plugin_json import FILE_NAME, read_manifest
from brainsmith.plugin.adapters.plugin_json_keys import KEYS
from brainsmith.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.plugin.adapters.plugin_json import Manifest


@dataclass(frozen=True)
class BundleSource:
    """Where a bundle comes from, and how it is to be run.

    Attributes:
        file: The library or Python file; absolute.
        is_library: Which of the two.
        manifest: The `plugin.json` that describes it; None if there is none.
        content: Stands for what was in these files.
        given: `isolation`, `sha256` and `time_limit`, as far as the call said them.
        isolation: `process` for a library that runs in a process of its own; None for this one.
        sha256: What the file's must be; None if none is stated.
        time_limit: Seconds in which a call of an isolated library must end; None for its default.
    """

    file: str
    is_library: bool
    manifest: Manifest | None
    content: str
    given: Mapping[str, Any] = field(default_factory=dict)
    isolation: str | None = None
    sha256: str | None = None
    time_limit: float | None = None

    @property
    def path(self) -> str:
        """What leads to it: the `plugin.json` if there is one, else the file."""
        return self.manifest.path if self.manifest is not None else self.file

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that `plugin.json` says it offers."""
        return tuple(self.manifest.values.get("ops", ())) if self.manifest is not None else ()


def find_source(path: str | os.PathLike[str], **given: Any) -> BundleSource:
    """Return what a path means: a library, a Python file, a `plugin.json`, or a folder with one.

    Args:
        path: As the user gave it.
        **given: `isolation`, `sha256`, `time_limit`: these win over what `plugin.json` says.

    Raises:
        BundleError: There is nothing, a folder without `plugin.json`, or a file that cannot be read.
        BundleDefinitionError: The `plugin.json` has errors.
    """
    place = _place(path)
    manifest = read_manifest(str(place)) if place.name == FILE_NAME else _beside(place)
    values = dict(manifest.values) if manifest is not None else {}
    if values.get("isolation") == "none":
        del values["isolation"]
    file = manifest.file if manifest is not None else str(place)
    stated = {name: _checked(name, value) for name, value in given.items() if value is not None}
    chosen = {name: stated.get(name, values.get(name)) for name in ("isolation", "sha256", "time_limit")}
    content = _content(file, manifest)
    return BundleSource(file, not file.endswith(".py"), manifest, content, given, **chosen)


def _place(path: str | os.PathLike[str]) -> Path:
    """Return the regular file that a path leads to, absolute: a pipe or a device would be read for ever."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = ""
    if not isinstance(text, str) or not text:
        raise BundleError(f"the path of a bundle must be text or a Path, not {shown(path)}")
    # The functions of os.path answer for any text, also for one that is too long or has a zero character.
    place = os.path.abspath(text)  # noqa: PTH100  (links stay: plugin.json lies beside the link)
    if os.path.isdir(place):  # noqa: PTH112
        file = os.path.join(place, FILE_NAME)  # noqa: PTH118
        if not os.path.isfile(file):  # noqa: PTH113
            raise BundleError(f"{place}: the folder has no {FILE_NAME}, so it is not a bundle")
        return Path(file)
    if not os.path.exists(place):  # noqa: PTH110
        raise BundleError(f"{place}: there is no such file or folder")
    if not os.path.isfile(place):  # noqa: PTH113
        raise BundleError(
            f"{place}: a bundle is loaded from a file or folder, and this is a pipe or a device"
        )
    return Path(place)


def _checked(name: str, value: Any) -> Any:
    """Return what a call said of how a bundle is to be run; `open_library` checks the isolation."""
    if name == "isolation":
        return None if value == "none" else value
    try:
        return KEYS[name](value)
    except BundleDefinitionError as error:
        raise BundleDefinitionError(f"{name} of load_plugin: {error}") from None


def _beside(place: Path) -> Manifest | None:
    """Return the `plugin.json` in a file's folder if it describes this file.

    Raises:
        BundleDefinitionError: There is one with errors: it may be this file's.
    """
    path = place.parent / FILE_NAME
    if not path.is_file():
        return None
    manifest = read_manifest(str(path))
    return manifest if Path(manifest.file).resolve() == place.resolve() else None


def _content(file: str, manifest: Manifest | None) -> str:
    """Return what stands for the content of a bundle's files; a library that may not be read has its own error."""
    found = hashlib.sha256()
    for path in [file] if manifest is None else [file, manifest.path]:
        try:
            found.update(Path(path).read_bytes())
        except OSError:
            return ""
    return found.hexdigest()
