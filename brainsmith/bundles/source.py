"""What a bundle is loaded from: a library or a Python file, and the `plugin.json` beside it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BundleError
from brainsmith.plugin.adapters.plugin_json import FILE_NAME, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.plugin.adapters.plugin_json import Manifest


@dataclass(frozen=True)
class Source:
    """Where a bundle comes from, and how it is to be run.

    Attributes:
        file: The library or Python file; absolute.
        is_library: Which of the two.
        manifest: The `plugin.json` that describes it; None if there is none.
        content: Stands for what was in these files.
        given: `isolation`, `sha256` and `time_limit`, as far as the call said them.
        isolation: `process` for a library that runs in a process of its own; None for this one.
        sha256: What the file's must be; None if nothing is said.
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


def find_source(path: str | os.PathLike[str], **given: Any) -> Source:
    """Return what a path means: a library, a Python file, a `plugin.json`, or a folder with one.

    Args:
        path: As the user gave it.
        **given: `isolation`, `sha256`, `time_limit`: these win over what `plugin.json` says.

    Raises:
        BundleError: There is nothing, a folder without `plugin.json`, or a file that cannot be read.
        BundleDefinitionError: The `plugin.json` has errors.
    """
    place = Path(os.path.abspath(path))  # noqa: PTH100  (links stay: plugin.json lies beside the link)
    if place.is_dir():
        place /= FILE_NAME
        if not place.is_file():
            raise BundleError(f"{place.parent}: the folder has no {FILE_NAME}, so it is no bundle")
    elif not place.exists():
        raise BundleError(f"{place}: there is no such file or folder")
    manifest = read_manifest(str(place)) if place.name == FILE_NAME else _beside(place)
    values = dict(manifest.values) if manifest is not None else {}
    if values.get("isolation") == "none":
        del values["isolation"]
    file = manifest.file if manifest is not None else str(place)
    chosen = {name: given.get(name) or values.get(name) for name in ("isolation", "sha256", "time_limit")}
    content = _content(file, manifest)
    return Source(file, not file.endswith(".py"), manifest, content, given, **chosen)


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
