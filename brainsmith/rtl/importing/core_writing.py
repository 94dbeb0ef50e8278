"""The files that an imported core becomes: a kernel, a backend, a test, and copies of its sources."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.errors import RtlSourceError
from brainsmith.rtl.importing.import_checks import check_distinct, check_free, check_golden_file, check_python
from brainsmith.rtl.importing.module_reader import READER
from brainsmith.rtl.importing.record import content_of, planned, record_of, record_place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from brainsmith.rtl.importing.import_plan import ImportPlan

WIDTH = 100


class Written(NamedTuple):
    """What an import did.

    Attributes:
        paths: What it wrote.
        kept: What was edited since an earlier import, and stays.
    """

    paths: tuple[Path, ...]
    kept: tuple[Path, ...] = ()


def write_import(
    plan: ImportPlan, plugins: Path, tests: Path, *, update: bool = False, force: bool = False
) -> Written:
    """Write an imported core into a folder of plugins, and its test.

    Args:
        plan: The core.
        plugins: Where kernel, backend, golden function and the core's sources go.
        tests: Where the test goes.
        update: Write over what an earlier import of this kernel wrote and nobody edited; a test that is there stays, since
            it may hold more.
        force: With `update`: write over what was edited, too.

    Raises:
        RtlSourceError: A name is taken, a file exists with another content or was edited, two would be one, one would be no
            Python or lack what it imports, or cannot be read or written. Then nothing is written.
    """
    contents = _contents(plan, plugins, tests)
    check_free(plan.name, contents, update=update)
    kernel, *_, test = contents
    record = record_place(kernel)
    made = {path: data for path, data in contents.items() if path != test}
    if update:
        return _written_over(contents, made, record, force=force)
    taken = [path for path, data in contents.items() if path.exists() and content_of(path) != data]
    if taken:
        raise RtlSourceError(
            f"{', '.join(map(str, taken))}: this file exists with other content, and is not overwritten\n"
            "  --update overwrites what an earlier import of it wrote; or give the kernel another name with --name"
        )
    everything = {**contents, record: record_of(made)}
    _write({path: data for path, data in everything.items() if path == record or not path.exists()})
    return Written(tuple(contents))


def _written_over(
    contents: Mapping[Path, bytes], made: Mapping[Path, bytes], record: Path, *, force: bool
) -> Written:
    """Write what an update changes, all or nothing."""
    kernel, *_, test = contents
    if not kernel.is_file():
        raise RtlSourceError(f"{kernel}: there is no such kernel to update; import it without --update first")
    plan = planned(made, record)
    if plan.edited and not force:
        names, it = ", ".join(map(str, plan.edited)), "it" if len(plan.edited) == 1 else "them"
        raise RtlSourceError(
            f"{names}: edited since an earlier import wrote {it}, and not overwritten\n"
            "  move the edits into the core, its golden function or its description; or --update --force overwrites them"
        )
    changed = [*plan.written, *plan.edited, *(plan.kept if force else ())]
    ordered = [path for path in contents if path in changed or (path == test and not test.exists())]
    _write({**{path: contents[path] for path in ordered}, record: record_of(made)})
    return Written(tuple(ordered), () if force else tuple(plan.kept))


def _write(files: Mapping[Path, bytes]) -> None:
    """Write files, all or none."""
    before: dict[Path, bytes | None] = {}
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            before[path] = path.read_bytes() if path.exists() else None
            path.write_bytes(data)
    except OSError as error:
        for path, was in before.items():
            path.unlink(missing_ok=True) if was is None else path.write_bytes(was)
        raise RtlSourceError(f"{error.filename}: cannot be written: {error.strerror}") from error


def _contents(plan: ImportPlan, plugins: Path, tests: Path) -> dict[Path, bytes]:
    """Return all files by their places, checked."""
    stem, golden = plan.stem, f"{plan.stem}_golden"
    texts = [
        (plugins / f"{stem}.py", "the kernel", kernel_file(plan, golden)),
        (plugins / f"{stem}_rtl.py", "the backend", backend_file(plan)),
        (plugins / f"{golden}.py", str(plan.golden[0]), _read(plan.golden[0])),
        *((plugins / file.name, str(file), _read(file)) for file in plan.files),
        (tests / f"test_{stem}.py", "the test", check_file(plan)),
    ]
    check_distinct((path, origin) for path, origin, _ in texts)
    check_golden_file(plan.golden[0], texts[2][2])
    for path, _, text in texts:
        if path.suffix == ".py":
            check_python(path, text)
    return {path: text.encode() for path, _, text in texts}


def _read(file: Path) -> str:
    """Return a file's text as it is, line ends too."""
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise RtlSourceError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RtlSourceError(
            f"{file}: is not UTF-8 text: {error.reason} at byte {error.start}\n  save it as UTF-8"
        ) from error


def kernel_file(plan: ImportPlan, golden: str) -> str:
    """Return the kernel."""
    early = "    early = True\n" if plan.said.early else ""
    return f'''"""{plan.name}: what the core {_doc(plan.module.name)} computes, in Python."""

from brainsmith.plugin.core import kernel
from brainsmith.rtl.cores.stream_kernel import StreamKernel, StreamType

from .{golden} import {plan.golden[1]} as golden_function


@kernel(
    name="{plan.name}",
    description={_text(plan.said.description)},
    requires=("finn-plus",),
    domain="brainsmith.kernels",
)
class {plan.name}Kernel(StreamKernel):
    """{_doc(plan.said.description)}."""

    attributes = {_table(plan.attributes, 4)}
    inputs = ({_streams(plan, fed=True)})
    outputs = ({_streams(plan, fed=False)})
    cycles = {_value(plan.said.cycles)}
{early}    golden = staticmethod(golden_function)
'''


def backend_file(plan: ImportPlan) -> str:
    """Return the backend."""
    streams, core = {stream.name: stream.ports for stream in plan.roles.streams}, plan.roles.pins
    pins = [f"clocks={_value(core.clocks)}", f"reset={_text(core.reset)}"]
    pins += ["reset_low=True"] if core.reset_low else []
    pins += [f"held={_table(dict(core.held), 12)}"] if core.held else []
    parallel = f"    parallel = {_table(plan.said.parallel, 4)}\n" if plan.said.parallel else ""
    return f'''"""{plan.name}RTL: the core {_doc(plan.module.name)} as a layer."""

from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.imported import CorePorts, ImportedCore
from brainsmith.rtl.cores.wrapper import CorePins

from .{plan.stem} import {plan.name}Kernel


@backend(
    name="{plan.name}RTL",
    kernel="{plan.name}",
    backend_type="rtl",
    description={_text(plan.said.description)},
    requires=("finn-plus", {_text(READER)}),
    domain="brainsmith.backends.rtl",
)
class {plan.name}RTL(ImportedCore, {plan.name}Kernel):
    """{_doc(plan.module.name)} behind AXI streams with FINN's names."""

    core = {_text(plan.module.name)}
    sources = {_value(tuple(file.name for file in plan.files))}
    ports = CorePorts(
        streams={_table(streams, 8)},
        pins=CorePins({", ".join(pins)}),
    )
{parallel}'''


def check_file(plan: ImportPlan) -> str:
    """Return the test."""
    return f'''"""{plan.name}RTL against the golden function: extremes, values in order, random ones; with stalls too."""

from brainsmith.rtl.cores.checking import check_kernel


def test_{plan.stem}(tmp_path):
    check = check_kernel("{plan.name}", tmp_path)
    assert check.right, str(check)
    assert check.interval == check.estimate  # cycles from frame to frame, as the kernel says
'''


def _streams(plan: ImportPlan, *, fed: bool) -> str:
    texts = []
    for stream in plan.roles.streams:
        if stream.fed == fed:
            said = plan.said.streams[stream.name]
            lanes = "" if said.lanes == 1 else f", lanes={_value(said.lanes)}"
            text = f"StreamType({_text(stream.name)}, {_value(said.shape)}, {_text(said.datatype)}{lanes})"
            texts += [text] * stream.count
    return f"{texts[0]}," if len(texts) == 1 else "".join(f"\n        {text}," for text in texts) + "\n    "


def _table(values: object, indent: int) -> str:
    assert isinstance(values, dict)
    entries = [f"{_text(name)}: {_value(value)}" for name, value in values.items()]
    line = "{" + ", ".join(entries) + "}"
    if len(line) + indent < WIDTH:
        return line
    inside = textwrap.indent(",\n".join(entries) + ",", " " * (indent + 4))
    return "{\n" + inside + "\n" + " " * indent + "}"


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(_value(one) for one in value) + (",)" if len(value) == 1 else ")")
    return repr(value)


def _text(value: str) -> str:
    """Return a Python literal in double quotes: JSON's escapes are Python's too."""
    return json.dumps(value, ensure_ascii=False)


def _doc(text: str) -> str:
    """Return text that can stand in a docstring, on one line, without a full stop."""
    return _text(" ".join(text.split()).rstrip("."))[1:-1]
