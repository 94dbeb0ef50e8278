"""What a build's folder is to somebody who runs it: the packed accelerator, the host's part, the model's own ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.align import align
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.rtl.package.frame_order import value_type
from brainsmith.rtl.package.reading import read_package
from brainsmith.store.files import read_json_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.execution.align import Alignment
    from brainsmith.execution.host_parts import HostParts
    from brainsmith.graph.array_types import Shape
    from brainsmith.rtl.package.reading import AcceleratorPackage
    from brainsmith.rtl.stitching.design import Layout

    Stacks = dict[str, NDArray[Any]]
    Accelerator = Callable[[Stacks], Stacks]

REPORT = "report.json"

EXACT_BITS = 24
"""Whole numbers of so many bits are exact in float32, in which models pass their tensors."""


@dataclass(frozen=True)
class BuildFolder:
    """What lies in a folder, and how the model's own inputs and outputs become the accelerator's.

    Attributes:
        package: The accelerator.
        host: What the host computes around it; None if it computes nothing.
        signature: The model's that was built, if the folder is a build's; else the accelerator's.
        alignment: Between the two; None for the same.
    """

    package: AcceleratorPackage
    host: HostParts | None
    signature: ModelSignature
    alignment: Alignment | None = None

    def run(
        self, feed: Mapping[str, NDArray[Any]], accelerator: Accelerator, keep: frozenset[str] = frozenset()
    ) -> Stacks:
        """Compute the signature's outputs.

        Args:
            feed: A stack (frames, *shape) for each input of the signature.
            accelerator: Gives a stack for each output of the design, by tensor, from those of its inputs.
            keep: Tensors to return that the host computes.
        """
        inner = feed if self.alignment is None else self.alignment.fed(feed)
        design = self.package.design
        ins = [stream.layout.tensor for stream in design.inputs]
        outs = [stream.layout.tensor for stream in design.outputs]

        def call(stacks: Iterable[NDArray[Any]]) -> list[NDArray[Any]]:
            results = accelerator(dict(zip(ins, stacks, strict=True)))
            return [results[name] for name in outs]

        if self.host is None:
            found = dict(zip(outs, call(inner.values()), strict=True))
        else:
            found = self.host.run(inner, call, keep)
        kept = {name: found[name] for name in keep if name in found}
        if self.alignment is not None:
            found = self.alignment.read_as(found)
        types = {spec.name: spec.dtype for spec in self.signature.outputs}
        return {**{name: found[name].astype(kind, copy=False) for name, kind in types.items()}, **kept}

    def carried(self, tensors: Mapping[str, NDArray[Any]]) -> Stacks:
        """Return tensors that lie between layers in the types of numpy in which models pass them."""
        layouts = {link.layout.tensor: link.layout for link in self.package.design.links if link.layout}
        return {name: values.astype(carried_in(layouts[name])) for name, values in tensors.items()}


def read_build_folder(folder: Path) -> BuildFolder:
    """Read a build's folder, or that of a package alone.

    Of a build the inputs and outputs are those of the model that was built, by its names and in its shapes, wherever
    its report has them and they only lie otherwise in the result. A package alone takes the accelerator's own.

    Raises:
        BuildError: There is no accelerator, or the model around it cannot be run.
        ModelError: That model is not one that can be read, or would run code.
    """
    package = read_package(folder)
    own = _own_signature(package)
    if package.folder == folder:
        return BuildFolder(package, None, own)
    host = _host(folder)
    now = own if host is None else host.signature
    before = _original(read_json_table(folder / REPORT))
    found = None if before is None else align(before, now)
    if before is None or found is None or found.reason or found.classes:
        return BuildFolder(package, host, now)
    return BuildFolder(package, host, before, found)


def _host(folder: Path) -> HostParts | None:
    """Return the host's parts of a build, if its accelerator is not all of the model."""
    from brainsmith.steps.host_ends import PARENT

    if not (folder / PARENT).is_file():
        return None
    from brainsmith.execution.host_parts import HostParts
    from brainsmith.execution.read_model import read_model

    return HostParts(read_model(folder / PARENT))


def _own_signature(package: AcceleratorPackage) -> ModelSignature:
    def specs(streams: Any) -> tuple[TensorSpec, ...]:
        layouts = [stream.layout for stream in streams]
        return tuple(TensorSpec(one.tensor, one.shape, carried_in(one), value_type(one)) for one in layouts)

    return ModelSignature(specs(package.design.inputs), specs(package.design.outputs))


def carried_in(layout: Layout) -> str:
    """Return the type of numpy in which a model passes what a stream carries."""
    return "float32" if layout.lane_bits <= EXACT_BITS else "int64"


def _original(report: Mapping[str, Any]) -> ModelSignature | None:
    """Return the ends of the model that was built; one is passed in float32 if its NumPy type is not known."""
    try:
        ends = [
            {str(name): tuple(int(size) for size in shape) for name, shape in report["model"][end].items()}
            for end in ("inputs", "outputs")
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if any(np.prod(shape) <= 0 for end in ends for shape in end.values()):
        return None
    types, datatypes = _types(report), _datatypes(report)

    def specs(tensors: Mapping[str, Shape]) -> tuple[TensorSpec, ...]:
        return tuple(
            TensorSpec(name, shape, types.get(name, "float32"), datatypes.get(name, "FLOAT32"))
            for name, shape in tensors.items()
        )

    return ModelSignature(*map(specs, ends))


def _types(report: Mapping[str, Any]) -> dict[str, str]:
    """Return NumPy's names of the types of the ends; nothing where the report does not have them as names of types."""
    found = report["model"].get("types")
    return {name: kind for name, kind in found.items() if _is_type(kind)} if isinstance(found, dict) else {}


def _is_type(name: Any) -> bool:
    try:
        return isinstance(name, str) and np.dtype(name).name == name
    except TypeError:
        return False


def _datatypes(report: Mapping[str, Any]) -> dict[str, str]:
    try:
        nodes = report["graphs"]["before"]["nodes"]
        return {node["name"]: node["datatype"] for node in nodes if node["op_type"] in ("Input", "Output")}
    except (KeyError, TypeError):
        return {}
