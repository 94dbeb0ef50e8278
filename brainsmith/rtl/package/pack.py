"""Write the package of an accelerator: whole, or not at all."""

from __future__ import annotations

import json
import secrets
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, OutputError
from brainsmith.rtl.package.component import component_xml
from brainsmith.rtl.package.contents import (
    BENCH,
    COMPONENT,
    GOLDEN,
    HOST,
    HOST_MODULE,
    IMPORT,
    LICENCES,
    MANIFEST,
    MANIFEST_FORMAT,
    README,
    file_digest,
)
from brainsmith.rtl.package.frame_order import as_frames, stored_type
from brainsmith.rtl.package.readme import readme
from brainsmith.rtl.package.vivado import import_tcl
from brainsmith.rtl.stitching.design_folder import MEMORIES, write_design
from brainsmith.store.files import write_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.package.contents import PackageFacts
    from brainsmith.rtl.stitching.design import Design

BENCH_FILES = Path(__file__).with_name("bench")


def write_package(
    design: Design, folder: Path, golden: Mapping[str, NDArray[Any]], facts: PackageFacts
) -> Path:
    """Write an accelerator with all that is needed to simulate it and to use it; paths in it are relative.

    Args:
        design: Its FIFOs have their depths.
        folder: Where the package comes to lie; one that is there is replaced when the new one is whole.
        golden: By the names of all streams: (frames, *shape of one), whole numbers.
        facts: What the package states about itself.

    Returns:
        The folder.

    Raises:
        BuildError: The golden vectors are not those of the design's streams.
        OutputError: The folder cannot be written.
    """
    vectors = _checked(design, golden)
    work = folder.with_name(f".{folder.name}-{secrets.token_hex(6)}")
    try:
        try:
            _fill(work, design, vectors, facts)
            _put_in_place(work, folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OutputError as error:
        raise OutputError(str(error).replace(str(work), str(folder))) from error
    except OSError as error:
        raise OutputError(f"{folder}: the package cannot be written: {error.strerror}") from error
    return folder


def _checked(design: Design, golden: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the vectors in the narrowest datatypes that hold them."""
    streams = {stream.name: stream for stream in (*design.inputs, *design.outputs)}
    if set(golden) != set(streams):
        raise BuildError(
            f"there must be golden vectors of each stream, {', '.join(streams)}, not of {', '.join(golden) or 'none'}"
        )
    counts = {len(values) for values in golden.values()}
    if len(counts) != 1:
        raise BuildError(f"the golden vectors of all streams must have as many frames, not {sorted(counts)}")
    vectors = {}
    for name, stream in streams.items():
        try:
            values = as_frames(golden[name], stream.layout, None)
        except ValueError as error:
            raise BuildError(f"the golden vectors of {name} do not fit it: {error}") from error
        vectors[name] = values.astype(stored_type(stream.layout))
    return vectors


def _fill(work: Path, design: Design, vectors: Mapping[str, NDArray[Any]], facts: PackageFacts) -> None:
    # It needs onnx, and whoever simulates a package imports this module without it.
    from brainsmith.rtl.package.host_description import host_description

    sources = [path.relative_to(work).as_posix() for path in write_design(design, work)]
    memories = [f"{MEMORIES}/{memory.name}" for memory in design.memories]
    (work / MEMORIES).mkdir(exist_ok=True)
    (work / GOLDEN).mkdir()
    for name, values in vectors.items():
        np.save(work / GOLDEN / f"{name}.npy", values)
    frames = len(next(iter(vectors.values())))
    texts = {
        COMPONENT: component_xml(design, sources, memories, facts),
        IMPORT: import_tcl(design, facts),
        README: readme(design, frames, facts),
        HOST: json.dumps(facts.host or host_description(design, None), indent=1) + "\n",
        HOST_MODULE: (BENCH_FILES / "host_functions.py").read_text("utf-8"),
        **{f"{LICENCES}/{name}": text for name, text in facts.licences.items()},
        **{
            f"{BENCH}/{name}": (BENCH_FILES / source).read_text("utf-8")
            for name, source in _BENCH_SOURCES.items()
        },
    }
    write_texts(work, texts)
    write_texts(work, {MANIFEST: json.dumps(_manifest(work, facts), indent=1) + "\n"})


_BENCH_SOURCES = {"test_accelerator.py": "test_accelerator.py", "run.py": "run_bench.py"}


def _manifest(work: Path, facts: PackageFacts) -> dict[str, Any]:
    files = sorted(path for path in work.rglob("*") if path.is_file())
    return {
        "format": MANIFEST_FORMAT,
        "brainsmith": facts.version,
        "part": facts.part,
        "clock_ns": facts.period,
        "golden_from": facts.golden_from,
        "orders": {name: asdict(order) for name, order in facts.orders.items()},
        "files": {path.relative_to(work).as_posix(): file_digest(path) for path in files},
    }


def _put_in_place(work: Path, folder: Path) -> None:
    """Rename a whole package to its place; an older one is moved aside first, and removed last."""
    aside = folder.with_name(f"{work.name}-old")
    if folder.exists():
        folder.rename(aside)
    try:
        work.rename(folder)
    except OSError:
        if aside.exists():
            aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)
