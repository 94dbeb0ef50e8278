"""What a native library states about itself, wherever it runs, and the copy from which it is loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.native.copy import LibraryCopy
from brainsmith.native.library_checks import check_file, check_hash, read_library

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from brainsmith.native.plugin_op import PluginOp


class PluginLibrary(ABC):
    """A native library.

    Attributes:
        path: The file that was opened.
        sha256: Of its content then.
        name: The plugin's.
        version: Its version, as text; so are the bounds of the host's, which may be empty.
        description: What it states about itself; empty for nothing.
        author: Likewise.
        ops: Its operations.
    """

    kind = "native plugin"
    ops: Sequence[PluginOp]

    def __init__(self, path: Path, sha256: str, table: Mapping[str, Any]) -> None:
        self.path, self.sha256 = path, sha256
        self.name: str = table["name"]
        self.version: str = table["version"]
        self.description: str = table["description"] or ""
        self.author: str = table["author"] or ""
        self.min_brainsmith: str = table["min_brainsmith"] or ""
        self.max_brainsmith: str = table["max_brainsmith"] or ""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether it is unloaded, or about to be."""

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {self.version}, {plural(len(self.ops), 'operation')}{', closed' * self.closed}>"


def checked_copy(path: str | os.PathLike[str], sha256: str | None) -> tuple[Path, LibraryCopy, str]:
    """Return a library's place, a copy of it that nobody changes, and its sha256.

    Args:
        path: Where it is.
        sha256: What its content must have, in hexadecimal digits; None for any.

    Raises:
        NativeLibraryError: It is not a library of this machine, or another one.
    """
    place = Path(path)
    data = read_library(place)
    found = check_hash(place, data, sha256)
    return place, LibraryCopy(place, data, check_file(place, data), found), found
