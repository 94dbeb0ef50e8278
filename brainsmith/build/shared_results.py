"""Results of steps in a cache that machines share: a model, figures beside it, and never anything that is run.

A key has an index, which says what each of its entries read beside what the key stands for; an entry is asked for once
that agrees. What an entry holds is checked as a model of a stranger is: whoever wrote it decides at most what a step's
result is, and not what runs here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from brainsmith.build.messages import LOG
from brainsmith.build.portable_parts import NotPortableError, PortableParts
from brainsmith.build.side_files import HIDDEN
from brainsmith.errors import ModelError
from brainsmith.store.fingerprint import digest
from brainsmith.store.shared.envelope import content_digest
from brainsmith.store.shared.packed_folder import is_safe, packed, unpacked
from brainsmith.store.shared.shared_cache import THERE, shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from brainsmith.settings import Settings
    from brainsmith.store.reads import Reads
    from brainsmith.store.shared.shared_cache import SharedCache

KIND = "builds"
INDEX = "index"
MODEL, META, FILES = "model.onnx", "meta.json", "files/"

_MOST_ENTRIES = 16
"""Of one key: the earliest are dropped from its index."""

_DATA = (".json", ".txt", ".csv", ".dat", ".hex", ".mem")
"""How files may end that are shared: texts that are read, and that nothing compiles or runs."""

_STREAMS = ("stdout", "stderr", "warning", "remark")
_PATH_NAMES = ("path", "dir", "file", "_so", "model")
"""What the names of attributes hold that say where something lies: FINN loads and runs what is there."""


def shared_results(settings: Settings, folders: Iterable[Path]) -> SharedResults | None:
    """Return the results that the settings let machines share; None where they name no shared cache.

    Args:
        settings: Those that hold.
        folders: Where plugins lie that belong to no framework, in the order in which they are looked for.
    """
    if settings.shared_cache is None:
        return None
    return SharedResults(shared_cache(settings), PortableParts(settings, folders))


class SharedResults:
    """Results of steps in a shared cache.

    Args:
        cache: It.
        portable: What stands for parts of keys on every machine.
    """

    def __init__(self, cache: SharedCache, portable: PortableParts) -> None:
        self.cache = cache
        self.portable = portable

    def find(
        self, parts: Mapping[str, str], agrees: Callable[[Mapping[str, str], Reads], bool]
    ) -> dict[str, bytes] | None:
        """Return the files of an entry, which are safe to use; None where no entry holds here.

        Args:
            parts: Of the key, as `keys.step_parts` gives them.
            agrees: Tells whether all that an entry's step read is as it was.
        """
        if self.cache.is_resting:
            return None
        try:
            key = self.key(self.portable.parts(parts))
        except NotPortableError:
            return None
        for name, reads, outside in self._index(key):
            if agrees(reads, self.portable.local_reads(outside)):
                return self.entry(f"{key}-{name}")
        return None

    def entry(self, place: str) -> dict[str, bytes] | None:
        """Return the files of an entry, which are safe to use; None if there is none, or it is not what it may be."""
        content = self.cache.get(KIND, place)
        if content is None:
            return None
        try:
            files = unpacked(content)
            check_files(files)
            meta = json.loads(files[META])
            if place != f"{self.key(meta['parts'])}-{_name(meta)}":
                raise ValueError("it is the entry of another key")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self.cache.refuse(KIND, place, str(error) if type(error) is ValueError else "it has another form")
            return None
        return files

    def offer(
        self,
        parts: Mapping[str, str],
        files: Mapping[str, bytes],
        outside: Reads,
        there: frozenset[str] = frozenset(),
    ) -> str:
        """Write an entry.

        Args:
            parts: Of its key, as `keys.step_parts` gives them.
            files: As the local cache keeps them: the model, `meta.json`, and the step's files.
            outside: What its step read from outside.
            there: The entries that are there already.

        Returns:
            Why it was not written; empty if it was.
        """
        if self.cache.read_only:
            return "the shared cache is read only"
        try:
            mine = json.loads(files[META])
            reads = self.portable.reads(outside)
            made = {name: text.rpartition("/")[2] for name, text in mine["made"].items() if name != "output"}
            meta = {**mine, "parts": self.portable.parts(parts), "outside": reads, "made": made}
            all_files = {**files, META: json.dumps(meta, sort_keys=True, ensure_ascii=False).encode()}
            for data in all_files.values():
                self.portable.check(data.decode("utf-8", "replace"))
            check_files(all_files)
            content = packed(all_files)
        except ValueError as error:
            return str(error)
        key, name = self.key(meta["parts"]), _name(meta)
        if f"{key}-{name}" in there:
            return THERE
        if not self.cache.put(KIND, f"{key}-{name}", content):
            return "the shared cache cannot be used, or it is too large"
        listed = [one for one in self._index(key) if one[0] != name][: _MOST_ENTRIES - 1]
        index = json.dumps([(name, meta["reads"], reads), *listed])
        return (
            ""
            if self.cache.put(KIND, f"{key}-{INDEX}", index.encode())
            else "the shared cache cannot be used"
        )

    @staticmethod
    def key(parts: Mapping[str, str]) -> str:
        """Return the key of portable parts."""
        return content_digest(json.dumps(dict(parts), sort_keys=True).encode("utf-8", "surrogatepass"))

    def _index(self, key: str) -> list[tuple[str, dict[str, str], dict[str, dict[str, str]]]]:
        content = self.cache.get(KIND, f"{key}-{INDEX}")
        if content is None:
            return []
        try:
            found = json.loads(content)
            if len(found) > _MOST_ENTRIES:
                raise ValueError
            for name, reads, outside in found:
                _check_texts(name, reads, *outside.values())
                if sorted(outside) != ["files", "folders", "variables"] or not name.isalnum():
                    raise ValueError
        except (ValueError, TypeError, AttributeError, RecursionError):
            self.cache.refuse(KIND, key, "its index has another form")
            return []
        return [(name, reads, outside) for name, reads, outside in found]


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuse what an entry may not hold.

    Raises:
        ValueError: The text says what.
    """
    if MODEL not in files or META not in files:
        raise ValueError("it holds no model")
    inner = [name.removeprefix(FILES) for name in files if name not in (MODEL, META)]
    if any(not name.startswith(FILES) for name in files if name not in (MODEL, META)):
        raise ValueError("it holds a file that no step writes")
    for name in inner:
        if not name.endswith(_DATA) or not _is_text(files[FILES + name]):
            raise ValueError(
                f"{name[:80]!r} may not be shared: a file must be text and end with {', '.join(_DATA)}"
            )
    try:
        meta = json.loads(files[META])
    except (ValueError, RecursionError):
        raise ValueError("what it states about itself cannot be read as JSON") from None
    try:
        _check_meta(meta, inner)
    except (LookupError, TypeError, AttributeError):
        raise ValueError("what it states about itself has another form") from None
    _check_model(files[MODEL])


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _check_meta(meta: dict[str, Any], inner: list[str]) -> None:
    _check_texts("", meta["parts"], meta["reads"], meta["made"], *(meta["outside"][name] for name in _TABLES))
    side = meta["side"]
    if side["links"] or side["executable"] or side["removed"]:
        raise ValueError("it holds links or files that may be run, or removes files")
    if sorted(side["files"]) != sorted(inner):
        raise ValueError("its files are not those that it states")
    if not all(text.isprintable() for text in meta["made"].values()):
        raise ValueError("the names of what it was made from hold control characters")
    for name in (*inner, *side["folders"]):
        if type(name) is not str or not is_safe(name) or name.partition("/")[0] in (*HIDDEN, LOG, MODEL):
            raise ValueError("it changes what a step may not")
    for stream, text in meta["printed"]:
        if stream not in _STREAMS or not all(
            line.isprintable() for line in text.replace("\t", " ").split("\n")
        ):
            raise ValueError("what its step printed holds control characters")
    if type(meta["format"]) is not int or not _is_time(meta["time"]):
        raise ValueError("what it states about itself has another form")
    if meta["seconds"] is not None and not _is_time(meta["seconds"]):
        raise ValueError("what it states about itself has another form")


def _is_time(value: Any) -> bool:
    """Tell whether a value is a number of seconds: JSON's numbers may be endless, and Python reads NaN as one."""
    return type(value) in (int, float) and 0 <= value < _LATEST


_TABLES = ("files", "folders", "variables")
_LATEST = 1e11


def _check_texts(name: Any, *tables: Any) -> None:
    """Refuse a name that is not a text, and tables that hold something else than texts.

    Names in them are those of files and variables: what is not printable may be none that the system takes.
    """
    if type(name) is not str or not all(map(_is_table, tables)):
        raise ValueError("what it states about itself has another form")


def _is_table(table: Any) -> bool:
    return type(table) is dict and all(
        type(value) is str and name.isprintable() for name, value in table.items()
    )


def _check_model(data: bytes) -> None:
    """Refuse a model that is unsound, or that names something on a disk."""
    import onnx  # most processes that look into a cache use no model

    from brainsmith.graph.sound import require_sound

    try:
        model = onnx.load_from_string(data)
    except Exception:  # noqa: BLE001  (protobuf raises its own)
        raise ValueError("its model cannot be read as ONNX") from None
    try:
        require_sound(model, "its model", of_client=True)
    except ModelError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    if any("/" in entry.value for entry in (*model.metadata_props, *model.graph.metadata_props)):
        raise ValueError("its model names a place on a disk")
    for name, text in _texts(model):
        if b"/" in text or b"\\" in text or (text and any(part in name for part in _PATH_NAMES)):
            raise ValueError(f"its model names a place on a disk, in {name!r}")


def _texts(model: Any) -> Iterator[tuple[str, bytes]]:
    """Yield all texts of attributes with the attribute's name, and where a tensor's values lie that it does not hold."""
    from brainsmith.graph.well_formed import all_graphs

    nodes = [node for graph in all_graphs(model.graph) for node in graph.node]
    nodes += [node for function in model.functions for node in function.node]
    tensors = [tensor for graph in all_graphs(model.graph) for tensor in graph.initializer]
    for node in nodes:
        for attribute in node.attribute:
            yield from ((attribute.name, text) for text in (attribute.s, *attribute.strings))
            tensors += [attribute.t, *attribute.tensors]
    for tensor in tensors:
        yield from (("file of values", entry.value.encode()) for entry in tensor.external_data)


def _name(meta: Mapping[str, Any]) -> str:
    """Return what stands for what a step read."""
    return digest(json.dumps([meta["reads"], meta["outside"]], sort_keys=True))
