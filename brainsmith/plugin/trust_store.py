"""What this user trusts: distributions, folders and keys, in `trust.json` beside the user's settings."""

from __future__ import annotations

import os
from contextlib import contextmanager

from brainsmith import TYPE_CHECKING
from brainsmith.errors import TrustError
from brainsmith.settings import user_folder
from brainsmith.store.file_lock import FileLock
from brainsmith.store.files import read_bytes, write_atomically
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PATIENCE = 10.0
"""Seconds to wait for another process that changes the list."""

KINDS = ("distributions", "folders", "keys")
FORMAT = 1


class TrustList(Struct):
    """What is trusted, and how closely.

    Attributes:
        distributions: By name versions (`>=1,<2`), a digest (`sha256:...`), or nothing for any version.
        folders: By absolute path a digest of what is in them (`sha256:...`), or nothing for any content.
        keys: By the key of a signature (ed25519, base64) whose it is.
    """

    distributions: dict[str, str]
    folders: dict[str, str]
    keys: dict[str, str]


def trust_file() -> str:
    """Return where the list lies; it need not exist."""
    return os.path.join(user_folder(), "trust.json")


def read_trust() -> TrustList:
    """Read the list; an empty one if there is no file.

    Raises:
        TrustError: It cannot be read, or is damaged, or other users may write it.
    """
    path = trust_file()
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return TrustList({}, {}, {})
    except OSError as error:
        raise TrustError(f"{path} cannot be read: {error.strerror}") from error
    from brainsmith.store.safety import why_untrusted  # most users list nothing

    reason = why_untrusted(path)
    if reason:
        raise TrustError(f"{path} {reason}, so it is not used: make it yours alone (chmod 600)")
    return _read(path, data)


def _read(path: str, data: bytes) -> TrustList:
    import json  # most users list nothing

    try:
        plain: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TrustError(f"{path} is damaged: {error}") from error
    if not isinstance(plain, dict) or plain.get("trust") != FORMAT:
        raise TrustError(f"{path} is no list of this version of BrainSmith: its 'trust' must be {FORMAT}")
    tables = [plain.get(kind, {}) for kind in KINDS]
    for kind, table in zip(KINDS, tables, strict=True):
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise TrustError(f"{path} is damaged: {kind!r} must be a table of texts")
    for name, versions in tables[0].items():
        if versions and not versions.startswith("sha256:"):
            from brainsmith.plugin.plugin_versions import versions_problem  # most users list nothing

            if problem := versions_problem(versions):
                raise TrustError(f"{path} is damaged: the {problem}, of {name}")
    return TrustList(*tables)


@contextmanager
def changing_trust() -> Iterator[TrustList]:
    """Give the list to be changed, which is written then; another process that changes it waits.

    Raises:
        TrustError: It cannot be read or written; or another process holds it.
    """
    lock = FileLock(f"{trust_file()}.lock", _PATIENCE)
    with lock:
        if lock.is_taken:
            raise TrustError(f"another process changes {trust_file()}: try again when it has ended")
        trusted = read_trust()
        yield trusted
        write_trust(trusted)


def write_trust(trusted: TrustList) -> None:
    """Write the list; the file is replaced at once, and only this user may read it.

    Raises:
        TrustError: It cannot be written.
    """
    import json  # only who changes the list

    path = trust_file()
    plain = {"trust": FORMAT, **{kind: dict(sorted(getattr(trusted, kind).items())) for kind in KINDS}}
    try:
        write_atomically(path, (json.dumps(plain, indent=1) + "\n").encode())
        os.chmod(path, 0o600)
    except OSError as error:
        raise TrustError(f"{path} cannot be written: {error.strerror}") from error
