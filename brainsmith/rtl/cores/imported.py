"""An RTL backend on a core that was written without this project: its ports have their own names."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from brainsmith.errors import BuildError
from brainsmith.figures import plural
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.expressions import evaluate
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.wrapper import CorePins, CoreStream
from brainsmith.rtl.importing.module_reader import read_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.cores.stream_kernel import StreamType
    from brainsmith.rtl.importing.module_reader import ModuleInterface


@dataclass(frozen=True)
class CorePorts:
    """What the ports of a core are for.

    Attributes:
        streams: By stream: its data, valid and ready.
        pins: Clocks, reset and inputs that are held; outputs that are named nowhere stay open.
    """

    streams: Mapping[str, tuple[str, str, str]]
    pins: CorePins = field(default_factory=CorePins)


class ImportedCore(CoreBackend):
    """Base of backends that `brainsmith kernel import` writes; put it before a `StreamKernel` among the bases.

    The core's parameters are the node's attributes of the same names.

    Attributes:
        sources: The files of the core and of all that it instantiates, beside the backend's own.
        ports: Of the core.
        parallel: Attributes that make it faster, each with what it must divide (an expression).
    """

    sources: ClassVar[tuple[str, ...]]
    ports: ClassVar[CorePorts]
    parallel: ClassVar[Mapping[str, int | str]] = {}

    inputs: ClassVar[tuple[StreamType, ...]]
    outputs: ClassVar[tuple[StreamType, ...]]

    @classmethod
    def core_files(cls) -> tuple[Path, ...]:
        """Return the sources."""
        folder = Path(inspect.getfile(cls)).parent
        return tuple(folder / name for name in cls.sources)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the node's own attributes."""
        values: Mapping[str, int | str] = self.attribute_values()
        return values

    def core_pins(self) -> CorePins:
        """Return how clock and reset are called, and what is held."""
        return self.ports.pins

    def core_streams(self) -> tuple[CoreStream, ...]:
        """Return the core's streams with the names of their ports; as wide as the core's ports are."""
        inputs = self._grouped(self.inputs, "in", self.get_instream_width)
        return (*inputs, *self._grouped(self.outputs, "out", self.get_outstream_width))

    def _grouped(
        self, streams: tuple[StreamType, ...], side: str, width: Callable[[int], int]
    ) -> Iterator[CoreStream]:
        """Yield the core's streams, each with the node's streams that it stands for, which have the same name."""
        for name, group in groupby(range(len(streams)), key=lambda at: streams[at].name):
            places = tuple(group)
            ends = tuple(f"{side}{at}_V" for at in places)
            yield CoreStream(name, ends, width(places[0]), side == "in", self.ports.streams[name])

    def core_resources(self, family: str) -> None:
        """Return no formula: what a core of someone else needs, only synthesis can say."""

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return the attributes that folding may raise."""
        values = self.attribute_values()
        return tuple(
            Parallelism(name, divisors(evaluate(limit, values))) for name, limit in self.parallel.items()
        )

    def generate_hdl(self, model: ModelWrapper, fpgapart: str, clk: float) -> None:
        """Write the layer's Verilog.

        Raises:
            BuildError: With these attributes a port of the core is not as wide as its stream.
        """
        module = read_module(self.core_files(), self.core, self.core_parameters())
        check_widths(module, self.core_streams(), self.onnx_node.name)
        super().generate_hdl(model, fpgapart, clk)


def check_widths(module: ModuleInterface, streams: tuple[CoreStream, ...], node: str) -> None:
    """Refuse a node whose streams are not those of the core's ports.

    Raises:
        BuildError: All ports that are so.
    """
    widths = {port.name: port.bits for port in module.ports}
    wrong = []
    for stream in streams:
        for port, one in zip(stream.pins, (stream.bits, 1, 1), strict=True):
            wanted, found = one * len(stream.ends), widths[port]
            if found != wanted and not (one > 1 and len(stream.ends) == 1 and found == stream.padded):
                wrong.append(f"\n  port {port!r} has {plural(found, 'bit')}, and its stream {wanted}")
    if wrong:
        raise BuildError(
            f"layer {node!r}: with the parameters {_listed(module)} the core {module.name!r} does not fit:{''.join(wrong)}"
            "\n  change the shapes, datatypes or lanes of its kernel, or the attributes of the node"
        )


def _listed(module: ModuleInterface) -> str:
    return ", ".join(f"{one.name}={one.value}" for one in module.parameters)
