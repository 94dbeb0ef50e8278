"""Anything that fsspec reaches as a shared cache: a folder (`file://`), S3 (`s3://`, with its package) and others."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import SharedCacheError
from brainsmith.store.shared.deadline import in_time
from brainsmith.store.shared.envelope import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brainsmith.store.shared.deadline import Deadline

_CHUNK = 1 << 20
_LARGEST_FILE = LARGEST + (1 << 20)


class FileSystem:
    """A folder of a file system.

    Args:
        url: As fsspec takes it.

    Raises:
        SharedCacheError: fsspec, or what it needs for this URL, is not installed; or it refuses the URL.
    """

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise SharedCacheError(
                'fsspec is not installed: pip install "brainsmith[shared]", or use redis://HOST:PORT'
            ) from None
        try:
            self._files, root = url_to_fs(url)
        except Exception as error:  # whatever some file system raises
            raise SharedCacheError(f"fsspec cannot use this address: {error}") from error
        self._root = str(root).rstrip("/")

    def get(self, key: str, deadline: Deadline) -> bytes | None:
        """Return what lies under a key; None if nothing does.

        Raises:
            SharedCacheError: It cannot be read.
        """
        found: bytes | None = self._do(deadline, lambda moved: self._read(self._path(key), moved))
        return found

    def put(self, key: str, data: bytes, deadline: Deadline) -> None:
        """Write under a key: whole or not at all.

        Raises:
            SharedCacheError: It cannot be written.
        """
        path = self._path(key)
        self._do(deadline, lambda moved: self._write(path, data, moved))

    def keys(self, prefix: str, deadline: Deadline) -> Iterator[str]:
        """Yield the keys that begin with a text, which ends with `/`.

        Raises:
            SharedCacheError: The folder cannot be listed.
        """
        found = self._do(deadline, lambda moved: self._listed(self._path(prefix.rstrip("/"))))
        start = f"{self._root}/"
        yield from sorted(str(path).removeprefix(start) for path in found if not str(path).endswith(".tmp"))

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _do(self, deadline: Deadline, work: Callable[[Callable[[int], None]], Any]) -> Any:
        try:
            return in_time(deadline, work)
        except SharedCacheError:
            raise
        except Exception as error:  # whatever some file system raises
            text = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SharedCacheError(text) from error

    def _read(self, path: str, moved: Callable[[int], None]) -> bytes | None:
        try:
            with self._files.open(path, "rb") as file:
                parts, size = [], 0
                while part := file.read(_CHUNK):
                    moved(len(part))
                    parts.append(part)
                    size += len(part)
                    if size > _LARGEST_FILE:
                        raise SharedCacheError("an entry of it is larger than entries are")
                return b"".join(parts)
        except FileNotFoundError:
            return None

    def _write(self, path: str, data: bytes, moved: Callable[[int], None]) -> None:
        moved(len(data))  # how far it is cannot be seen
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        self._files.pipe_file(temporary, data)
        self._files.mv(temporary, path)

    def _listed(self, folder: str) -> list[str]:
        try:
            found = list(self._files.find(folder))
            if not found and self._files.info(self._root)["type"] != "directory":
                raise NotADirectoryError(
                    None, "Not a directory"
                )  # of which there would be no entries, either
        except FileNotFoundError:
            return []
        return found
