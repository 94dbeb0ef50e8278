"""What stands for the content of a resource and of arguments: equal content, equal digest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import TargetError
from brainsmith.figures import plural
from brainsmith.runtime.file_facts import facts_of, partition_files
from brainsmith.store.fingerprint import new_digest
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from brainsmith.store.about import About


def content_of(resource: Any) -> str:
    """Return what stands for a resource's content.

    Args:
        resource: The path of a file or folder (content and names of its files count), bytes, a QONNX ModelWrapper or an
            ONNX model, or plain values. Of a model, the files that it names count too: weights in other files, and the
            models of its dataflow partitions, by absolute path, since a relative one starts where the process is.

    Returns:
        Hexadecimal digits; nothing for an object whose content cannot be determined.
    """
    hasher = new_digest()
    proto = getattr(resource, "model", resource)
    if isinstance(resource, bytes | bytearray | memoryview):
        hasher.update(resource)
        _add_partitions(hasher, partition_files(bytes(resource)))
    elif isinstance(resource, str | os.PathLike):
        _add_path(hasher, Path(resource))
    elif hasattr(proto, "SerializeToString"):
        data = proto.SerializeToString(deterministic=True)
        hasher.update(data)
        _add_partitions(hasher, partition_files(data))
    elif not _add_value(hasher, resource):
        return ""
    return hasher.hexdigest()


def digest_of(values: Any, what: str) -> str:
    """Return what stands for plain values; 1, 1.0 and True are others.

    Args:
        values: Of numbers, texts, None, lists, tables and arrays.
        what: Begins the message.

    Raises:
        TargetError: There is another kind of object among them.
    """
    hasher = new_digest()
    if not _add_value(hasher, values):
        raise TargetError(
            f"{what} must be plain values (numbers, strings, lists, dicts, arrays), not {values!r}"
        )
    return hasher.hexdigest()


def describe_resource(resource: Any) -> str:
    """Return what a resource is, for people."""
    if isinstance(resource, str | os.PathLike):
        return os.fspath(resource)
    if isinstance(resource, bytes | bytearray | memoryview):
        return plural(len(resource), "byte")
    return f"a {type(resource).__name__}"


def about_resource(resource: Any) -> About:
    """Return what is noted in what is made of a resource."""
    about: About = {"of": describe_resource(resource)}
    if isinstance(resource, str | os.PathLike):
        path = str(Path(resource).absolute())
        about["origin"] = {path: file_digest(path)}
    return about


def _add_path(hasher: Any, path: Path, above: tuple[Path, ...] = ()) -> None:
    if path.is_dir():
        for file in sorted(inner for inner in path.rglob("*") if inner.is_file()):
            _add_tagged(hasher, "file", os.fsencode(file.relative_to(path)))
            _add_tagged(hasher, "content", facts_of(file, is_model=False).digest.encode())
    elif path.is_file():
        facts = facts_of(path, is_model=True)
        _add_tagged(hasher, "content", facts.digest.encode())
        for name in facts.external:
            _add_tagged(hasher, "external", name.encode())
            _add_path(hasher, path.parent / name)
        _add_partitions(hasher, facts.partitions, (*above, path.absolute()))
    else:
        _add_tagged(hasher, "name", os.fsencode(path))


def _add_partitions(hasher: Any, named: tuple[str, ...], above: tuple[Path, ...] = ()) -> None:
    """Add the models that the dataflow partitions of a model name, and theirs; one that names itself ends there."""
    for name in named:
        path = Path(name).absolute()
        _add_tagged(hasher, "partition", os.fsencode(path))
        if path not in above:
            _add_path(hasher, path, above)


def _add_value(hasher: Any, value: Any) -> bool:
    """Add a plain value with its type and length, so that no two values look alike; False for another kind."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | float | str):
        _add_tagged(hasher, kind, repr(value).encode("utf-8", "surrogatepass"))
        return True
    if isinstance(value, bytes | os.PathLike):
        _add_tagged(hasher, kind, value if isinstance(value, bytes) else os.fsencode(value))
        return True
    if isinstance(value, Mapping):
        _add_tagged(hasher, "table", str(len(value)).encode())
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        return all(_add_value(hasher, part) for pair in pairs for part in pair)
    if isinstance(value, list | tuple | set | frozenset):
        _add_tagged(hasher, "list", str(len(value)).encode())
        parts = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return all(_add_value(hasher, part) for part in parts)
    if hasattr(value, "tobytes") and hasattr(value, "dtype") and not value.dtype.hasobject:
        _add_tagged(hasher, f"{value.dtype.str}{value.shape}", value.tobytes())
        return True
    return False


def _add_tagged(hasher: Any, tag: str, data: bytes) -> None:
    hasher.update(f"{tag}:{len(data)}:".encode())
    hasher.update(data)
