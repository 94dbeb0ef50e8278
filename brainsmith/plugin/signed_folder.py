"""A folder of plugins that somebody signed: `plugin.sig` in it names its files by SHA-256, under an ed25519 signature."""

from __future__ import annotations

import base64
import binascii
import csv
import errno
import hashlib
import json
import os
import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import TrustError
from brainsmith.store.files import is_racy, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE = "plugin.sig"
FORMAT = 1
KEY_WORD = "ed25519"
"""With what the one line of a public key's file begins: `ed25519 BASE64 NAME`."""

_SIGNED = b"brainsmith plugin folder 1\n"
_UNSIGNED = ("__pycache__",)
_LINK = "link "
_HELD: dict[str, dict[str, str]] = {}
"""Folders whose modules are imported only as they were checked: the digests of their files."""
_KNOWN: dict[str, tuple[tuple[int, ...], str]] = {}
"""Digests of files by path, with the status that they had, where that would show a change."""


def digests_of(folder: str) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder, by its name there; of links to what lies in it, where they lead.

    Compiled Python (`__pycache__`) and the signature do not count: none of it is read from such a folder.

    Raises:
        OSError: Something cannot be read, leads out of the folder, or is neither a file, a folder nor a link.
    """
    found = dict(_entries(os.path.realpath(folder), ""))
    found.pop(SIGNATURE, None)
    return found


def _entries(root: str, inside: str) -> Iterator[tuple[str, str]]:
    """Yield names and digests, in order, whatever the order of the directory is."""
    here = os.path.join(root, inside) if inside else root
    with os.scandir(here) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = f"{inside}/{entry.name}" if inside else entry.name
        if entry.is_symlink():
            if not os.path.realpath(entry.path).startswith(f"{root}{os.sep}"):
                raise OSError(errno.EXDEV, "it is a link to what is outside of the folder", entry.path)
            yield name, f"{_LINK}{os.readlink(entry.path)}"
        elif entry.is_dir():
            if entry.name not in _UNSIGNED:
                yield from _entries(root, name)
        elif entry.is_file():
            yield name, _sha256(entry.path)
        else:
            raise OSError(errno.EINVAL, "it is neither a file, a folder nor a link", entry.path)


def content_digest(files: Mapping[str, str]) -> str:
    """Return `sha256:...` of the files of a folder, as `digests_of` gives them."""
    return f"sha256:{hashlib.sha256(_canonical(files)).hexdigest()}"


def digest_of_files(files: Mapping[str, str]) -> str:
    """Return `sha256:...` of some files.

    Args:
        files: Their paths, by name.

    Raises:
        OSError: One cannot be read.
    """
    return content_digest({name: _sha256(path) for name, path in files.items()})


def recorded_files(metadata_folder: str) -> dict[str, str]:
    """Return the files that an installed distribution brings, by the names of its RECORD; not what installing it made.

    Raises:
        OSError: It has no RECORD.
    """
    with open(os.path.join(metadata_folder, "RECORD"), encoding="utf-8", newline="") as file:
        names = [row[0] for row in csv.reader(file) if row]
    base, own = os.path.split(metadata_folder)
    brought = [name for name in names if not name.startswith(("../", "/")) and not name.endswith(".pyc")]
    made = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
    kept = [name for name in brought if name not in [f"{own}/{file}" for file in made]]
    return {name: os.path.join(base, name) for name in sorted(kept)}


def hold_to(folder: str, files: Mapping[str, str]) -> None:
    """Import modules of a folder only as they are now, also where they change after this look, or are added."""
    from brainsmith.store.imported_sources import SOURCE_CHECKS  # parses: only who loads a plugin

    _HELD[os.path.realpath(folder)] = dict(files)
    if _check_source not in SOURCE_CHECKS:
        SOURCE_CHECKS.append(_check_source)


def _check_source(path: str, data: bytes) -> None:
    """Refuse a module's source that is another one than was checked.

    Raises:
        ImportError: It is.
    """
    real = os.path.realpath(path)
    for folder, files in _HELD.items():
        if real.startswith(f"{folder}{os.sep}"):
            name = os.path.relpath(real, folder).replace(os.sep, "/")
            if files.get(name) != hashlib.sha256(data).hexdigest():
                raise ImportError(
                    f"{path} is not as it was when {folder} was checked, which is trusted by its content"
                )


def _sha256(path: str) -> str:
    now = time.time_ns()
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = _KNOWN.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not is_racy((status.st_mtime_ns, status.st_ctime_ns), now):
        _KNOWN[path] = stamp, found
    return found


def _canonical(files: Mapping[str, str]) -> bytes:
    return json.dumps(files, sort_keys=True, separators=(",", ":")).encode()


def why_not_signed(folder: str, keys: Mapping[str, str]) -> str:
    """Return why a folder does not count as signed by one of some keys; empty if it does.

    Args:
        folder: With a `plugin.sig`.
        keys: Those that are trusted.
    """
    path = os.path.join(folder, SIGNATURE)
    try:
        with open(path, "rb") as file:
            plain = json.loads(file.read())
        stated, key, signature = plain["files"], plain["key"], base64.b64decode(plain["signature"])
        raw = base64.b64decode(key)
    except OSError as error:
        return f"its {SIGNATURE} cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return f"its {SIGNATURE} is damaged"
    if key not in keys:
        return f"it is signed with a key that is not trusted ({str(key)[:44]})"
    try:
        from cryptography.exceptions import InvalidSignature  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return f"checking its {SIGNATURE} needs cryptography: pip install 'brainsmith[trust]'"
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, _SIGNED + _canonical(stated))
    except (InvalidSignature, ValueError, TypeError):
        return f"its {SIGNATURE} is not of the key that it names"
    return _difference(stated, folder)


def _difference(stated: object, folder: str) -> str:
    try:
        found = digests_of(folder)
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    known = stated if isinstance(stated, dict) else {}
    for name in sorted({*known, *found}):
        if name not in found:
            return f"{name} is missing"
        if name not in known:
            return f"{name} is not signed"
        if known[name] != found[name]:
            return f"{name} is not as it was signed"
    hold_to(folder, found)
    return ""


def sign(folder: str, key_file: str) -> str:
    """Sign a folder; return the public key.

    Args:
        folder: Gets the file `plugin.sig`.
        key_file: A private key (PEM), as `make_key` writes it.

    Raises:
        TrustError: The key or the folder cannot be read, the folder is empty, or it cannot be written.
    """
    key = _private_key(key_file)
    if not os.path.isdir(folder):
        raise TrustError(f"{folder} is no folder")
    public = _public_text(key)
    try:
        files = digests_of(folder)
        if not files:
            raise TrustError(f"{folder} holds no file that could be signed")
        signature = base64.b64encode(key.sign(_SIGNED + _canonical(files))).decode()
        plain = {"plugin signature": FORMAT, "key": public, "signature": signature, "files": files}
        write_atomically(os.path.join(folder, SIGNATURE), (json.dumps(plain, indent=1) + "\n").encode())
    except OSError as error:
        raise TrustError(f"{folder} cannot be signed: {error.filename}: {error.strerror}") from error
    return public


def make_key(path: str, name: str) -> str:
    """Write a new private key, and beside it (`.pub`) the public one; return that.

    Args:
        path: The file of the private key, which only this user may read. It must not exist.
        name: Whose it is.

    Raises:
        TrustError: One of the files exists, or cannot be written; or the name is no line.
    """
    try:
        from cryptography.hazmat.primitives import serialization  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise _no_cryptography() from error
    if not name.isprintable():
        raise TrustError(f"the name of a key must be one line of plain characters, not {name!r}")
    taken = [file for file in (path, f"{path}.pub") if os.path.lexists(file)]
    if taken:  # before the private key is there without its public one
        raise TrustError(f"{taken[0]} exists: keys are not overwritten; name another file")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = _public_text(key)
    for file, data, mode in (
        (path, pem, 0o600),
        (f"{path}.pub", f"{KEY_WORD} {public} {name}\n".encode(), 0o644),
    ):
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError as error:
            raise TrustError(f"{file} exists: keys are not overwritten; name another file") from error
        except OSError as error:
            raise TrustError(f"{file} cannot be written: {error.strerror}") from error
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
    return public


def read_public_key(path: str) -> tuple[str, str]:
    """Return the key and whose it is, of a file that `make_key` wrote.

    Raises:
        TrustError: It is no such file.
    """
    try:
        with open(path, encoding="utf-8") as file:
            word, key, *name = file.read(4096).split()
        if word != KEY_WORD or len(base64.b64decode(key, validate=True)) != 32:
            raise ValueError(word)
    except OSError as error:
        raise TrustError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, binascii.Error) as error:
        raise TrustError(f"{path} is no public key: it must be one line, '{KEY_WORD} BASE64 NAME'") from error
    return key, " ".join(name)


def _public_text(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _private_key(path: str) -> Ed25519PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise _no_cryptography() from error
    try:
        with open(path, "rb") as file:
            key = load_pem_private_key(file.read(), None)
    except OSError as error:
        raise TrustError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TrustError(
            f"{path} is no private key without a password (PEM): brainsmith trust key writes one"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise TrustError(
            f"{path} is another kind of key: it must be an ed25519 one, as brainsmith trust key writes it"
        )
    return key


def _no_cryptography() -> TrustError:
    return TrustError("signatures need cryptography: pip install 'brainsmith[trust]'")
