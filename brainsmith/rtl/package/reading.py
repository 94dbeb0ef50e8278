"""Read a package again: the design, its files as they are now, and which of them are not as they were packed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.package.contents import (
    FOLDER,
    GOLDEN,
    MANIFEST,
    MANIFEST_FORMAT,
    file_digest,
    package_folder,
)
from brainsmith.rtl.package.frame_order import FrameOrder
from brainsmith.rtl.package.screening import has_macros, refuse_foreign_code
from brainsmith.rtl.simulation.simulation_plan import Memory, SimulationPlan
from brainsmith.rtl.simulation.simulator_build import without_macros
from brainsmith.rtl.stitching.design_folder import (
    FILE_LIST,
    MEMORIES,
    PLAN,
    SOURCES,
    located,
    path_inside,
    read_design,
    text_inside,
    written_data,
)
from brainsmith.rtl.stitching.top_module import plan_design

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.stitching.design import Design

_SIMULATED = (f"{SOURCES}/", f"{MEMORIES}/", f"{GOLDEN}/", FILE_LIST, PLAN)
"""What decides what a simulation of a package does."""


@dataclass(frozen=True)
class AcceleratorPackage:
    """A package that was read.

    Attributes:
        folder: Where it lies.
        design: How it is made; its streams say how tensors lie in them.
        orders: By the names of inputs: how frames of the network that was built lie, where that is known.
        changed: Files that are not as they were packed, each with what happened to it.
        period: Of the clock that it was made for, in nanoseconds; None where its manifest does not say.
    """

    folder: Path
    design: Design
    orders: Mapping[str, FrameOrder]
    changed: tuple[str, ...]
    period: float | None

    def plan(self, trace: bool = False) -> SimulationPlan:
        """Return what is simulated: the files of the list, as they are.

        Where they are as they were packed, it is the plan of the design, whose simulator a build may have left.

        Raises:
            BuildError: One cannot be read, lies elsewhere, or reaches beyond the circuit (`screening.py`).
        """
        rules = {source.name: source.rules for source in self.design.sources}
        sources: dict[str, RtlSource] = {}
        for path in _text(self.folder, FILE_LIST).split():
            name = path.rpartition("/")[2]
            if name in sources:
                raise BuildError(f"{self.folder / FILE_LIST} names two files {name}: rename one of them")
            text = _text(self.folder, path)
            refuse_foreign_code(f"{self.folder / path}", text)
            sources[name] = RtlSource(name, located(text), rules.get(name, ()))
        order = [memory.name for memory in self.design.memories]
        there = sorted(path.name for path in (self.folder / MEMORIES).glob("*") if path.is_file())
        names = [*(name for name in order if name in there), *(name for name in there if name not in order)]
        memories = tuple(Memory(name, _text(self.folder, f"{MEMORIES}/{name}")) for name in names)
        plan = SimulationPlan(self.design.top, tuple(sources.values()), memories, trace=trace)
        self._refuse_hidden_code(plan)
        return plan

    def watched_plan(self) -> SimulationPlan:
        """Return what is simulated, with probes where the files are as they were packed: what the build has verified.

        So the simulator that a build left runs its package, too.

        Raises:
            BuildError: As `plan` does.
        """
        plan = self.plan()
        as_packed = plan.digest() == plan_design(self.design).digest()
        return plan_design(self.design, probes=True) if as_packed else plan

    def circuit(self) -> Design:
        """Return the design, to be simulated with other modules around its layers than the package has.

        What `plan` refuses is refused here too, although it is not read: a package is trusted as a whole, or not.

        Raises:
            BuildError: One of the package's files cannot be read, lies elsewhere, or reaches beyond the circuit.
            ToolError: It has macros, and Verilator is missing.
        """
        self.plan()
        self._refuse_hidden_code(SimulationPlan(self.design.top, self.design.sources))
        return self.design

    def _refuse_hidden_code(self, plan: SimulationPlan) -> None:
        if any(has_macros(source.text) for source in plan.sources):
            refuse_foreign_code(f"{self.folder / SOURCES}, its macros replaced", without_macros(plan))

    def golden(self, stream: str) -> NDArray[Any]:
        """Return the golden vectors of a stream: (frames, *shape of one).

        Raises:
            BuildError: They cannot be read.
        """
        path = path_inside(self.folder, f"{GOLDEN}/{stream}.npy")
        if not path.is_file():
            raise BuildError(
                f"{path} is missing: it holds the golden vectors of stream {stream}\n  build the accelerator again"
            )
        try:
            values: NDArray[Any] = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError) as error:  # EOFError: it is empty
            raise BuildError(f"{path} cannot be read: {error}\n  build the accelerator again") from error
        return values

    def all_golden(self) -> dict[str, NDArray[Any]]:
        """Return the golden vectors of all streams; none if somebody took some out, which is no reason not to simulate."""
        try:
            return {
                stream.name: self.golden(stream.name)
                for stream in (*self.design.inputs, *self.design.outputs)
            }
        except BuildError:
            return {}


def read_package(folder: Path) -> AcceleratorPackage:
    """Read a package.

    Args:
        folder: Its own, or that of the build which made it.

    Raises:
        BuildError: There is none, it is damaged, it is of another version, or a source of it reaches beyond the
            circuit.
    """
    found = package_folder(folder)
    if found is None:
        raise BuildError(
            f"{folder} holds no accelerator: there is no {FOLDER}/{MANIFEST} and no {MANIFEST} in it\n"
            "  build one: brainsmith build MODEL --blueprint FILE --output DIR --produce simulated"
        )
    files, orders, period = _manifest(found)
    design = read_design(found)
    for source in design.sources:
        refuse_foreign_code(f"{found / SOURCES / source.name}", source.text)
    return AcceleratorPackage(found, design, orders, tuple(_changes(found, files)), period)


def _manifest(folder: Path) -> tuple[dict[str, str], dict[str, FrameOrder], float | None]:
    """Return the digests of the files, the orders of the inputs, and the clock period."""
    with written_data(folder, MANIFEST, MANIFEST_FORMAT) as manifest:
        orders = {
            name: FrameOrder(_sizes(order["shape"]), _sizes(order["axes"]))
            for name, order in manifest["orders"].items()
        }
        files = {str(name): str(digest) for name, digest in manifest["files"].items()}
        period = manifest.get("clock_ns")
        return files, orders, float(period) if isinstance(period, int | float) and period > 0 else None


def _sizes(values: Any) -> tuple[int, ...]:
    if not all(type(value) is int and value >= 0 for value in values):
        raise ValueError(f"{values!r:.80} are not sizes")
    return tuple(values)


def _changes(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return which files that a simulation reads are changed, missing, or were not packed."""
    found = []
    for name, digest in files.items():
        path = path_inside(folder, name)
        if name.startswith(_SIMULATED):
            if not path.is_file():
                found.append(f"{name} is missing")
            elif file_digest(path) != digest:
                found.append(f"{name} is not as it was packed")
    there = [
        path.relative_to(folder).as_posix()
        for part in (SOURCES, MEMORIES, GOLDEN)
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    ]
    return found + [f"{name} was not packed" for name in there if name not in files]


def _text(folder: Path, name: str) -> str:
    try:
        return text_inside(folder, name)
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"{folder / name} cannot be read: {error}\n  build the accelerator again") from error
