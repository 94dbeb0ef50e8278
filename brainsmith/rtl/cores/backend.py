"""The base of RTL backends that are one SystemVerilog core."""

from __future__ import annotations

import copy
import inspect
from abc import abstractmethod
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from finn.custom_op.fpgadataflow.rtlbackend import RTLBackend

from brainsmith.errors import BuildError
from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.rtl.cores.estimated_backend import EstimatedBackend
from brainsmith.rtl.cores.integers import is_wide
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.wrapper import CorePins, CoreStream, wrap_core
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, one_after_the_other
from brainsmith.store.files import write_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper


class CoreBackend(EstimatedBackend, RTLBackend):
    """A kernel's RTL: put it before the kernel among the bases, `class PoolRTL(CoreBackend, Pool)`.

    The kernel gives shapes, datatypes, streams, cycles and the Python execution; this class the Verilog. A node is
    executed in Python unless its `exec_mode` is `rtlsim`.

    Attributes:
        core: The core's module. It is defined in the file of that name with `.sv`, beside the backend's own file.
        parts: Files beside it that the core needs too.
        joined: Whether the core has all its inputs as one vector `in`, and all its outputs as one vector `out`.
        parallel: Attributes that make the layer faster, each with the attribute that it must divide.
        exact_to: Up to where its Python model is exact: 2^24 in tensors of float32, 2^53 where it computes in float64
            for tensors that the graph states as that.
    """

    onnx_node: Any
    kernel_behind = RTLBackend
    core: ClassVar[str]
    parts: ClassVar[tuple[str, ...]] = ()
    joined: ClassVar[bool] = False
    parallel: ClassVar[Mapping[str, Any]] = {}
    exact_to: ClassVar[int] = FLOAT32_END

    @abstractmethod
    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the parameters of the core; a string includes its quotes."""

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return what folding may raise, in the order in which it should: what `parallel` states, if nothing else."""
        return tuple(
            Parallelism(name, divisors(self.get_nodeattr(whole))) for name, whole in self.parallel.items()
        )

    def frame_beats(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the beats of a frame: of each input that is a stream, and of each output."""
        taken = [self.get_folded_input_shape(at) for at in self.fed_inputs()]
        given = [self.get_folded_output_shape(at) for at in range(len(self.onnx_node.output))]
        return tuple(prod(map(int, shape[:-1])) for shape in taken), tuple(
            prod(map(int, shape[:-1])) for shape in given
        )

    def beat_schedule(self) -> BeatSchedule:
        """Return when the core takes and gives the beats of a frame: of one that does not say, the slowest it may be.

        That is, it takes all of a frame and then gives all of it, in the cycles that the kernel says.
        """
        return one_after_the_other(*self.frame_beats(), int(self.get_exp_cycles()))

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether this backend can implement a node: integers in all of its streams, and lanes that divide them.

        Results must be such that the Python model, whose tensors are floats, is as exact as the core.

        Args:
            node: QONNX's instance of the kernel's node.
            part: The FPGA; empty if it is not known.
        """
        inputs = [(f"input {at}", node.get_input_datatype(at)) for at in range(len(node.onnx_node.input))]
        outputs = [(f"output {at}", node.get_output_datatype(at)) for at in range(len(node.onnx_node.output))]
        for name, kind in inputs + outputs:
            if not kind.is_integer():
                return unsupported(f"{name} is {kind.name}, but its core computes with integers only")
        layer = cls(node.onnx_node, onnx_opset_version=node.onnx_opset_version)
        low, high = layer.result_range()
        if max(-low, high) > cls.exact_to:
            kind = "float32" if cls.exact_to == FLOAT32_END else "float64"
            return unsupported(
                f"its results are {low} to {high}, and its Python model, in {kind}, is exact to {cls.exact_to} only"
            )
        return layer.lanes_divide()

    def result_range(self) -> tuple[int, int]:
        """Return the least and the greatest result that its inputs' datatypes allow; zeros if it only moves values.

        A backend whose core computes new values says here what they can be.
        """
        return 0, 0

    def lanes(self) -> Mapping[str, int]:
        """Return what each attribute of `parallelism` must divide: the greatest value that makes the layer faster.

        A backend whose core can have more lanes than are of use says so here.
        """
        whole: dict[str, int] = {}
        for one in self.parallelism():
            whole[one.attribute] = max(one.values[-1], whole.get(one.attribute, 1))
        return whole

    def lanes_divide(self) -> Support:
        """Tell whether the attributes of `parallelism` divide what they must."""
        for name, whole in self.lanes().items():
            value = self.get_nodeattr(name)
            if value < 1 or whole % value:
                return unsupported(f"its {name} is {value}, which does not divide {whole}")
        return SUPPORTED

    def fed_inputs(self) -> tuple[int, ...]:
        """Return which of the node's inputs are streams; the others, of width 0, are constants inside the core."""
        return tuple(at for at in range(len(self.onnx_node.input)) if self.get_instream_width(at))

    def get_number_output_values(self) -> int | dict[str, int]:
        """Return the beats of a frame; by stream where there are several outputs.

        FINN waits for so many in its simulation; some of its kernels leave out leading vectors.
        """
        beats = [
            prod(map(int, self.get_folded_output_shape(at)[:-1])) for at in range(len(self.onnx_node.output))
        ]
        return beats[0] if len(beats) == 1 else {f"out{at}": count for at, count in enumerate(beats)}

    def core_streams(self) -> tuple[CoreStream, ...]:
        """Return the core's streams: `in` and `out`, or numbered (`in0`, `in1`) where there are several, not `joined`."""
        inputs = {f"in{at}": self.get_instream_width(at) for at in self.fed_inputs()}
        outputs = {f"out{at}": self.get_outstream_width(at) for at in range(len(self.onnx_node.output))}
        return (*self._side("in", inputs), *self._side("out", outputs))

    def _side(self, side: str, widths: Mapping[str, int]) -> Iterator[CoreStream]:
        """Yield the streams of the inputs or of the outputs."""
        ends, fed = tuple(f"{name}_V" for name in widths), side == "in"
        if self.joined:
            yield CoreStream(side, ends, min(widths.values()), fed, each=tuple(widths.values()))
            return
        for (name, bits), end in zip(widths.items(), ends, strict=True):
            yield CoreStream(name if len(widths) > 1 else side, (end,), bits, fed)

    def core_pins(self) -> CorePins:
        """Return how the core's other ports are called: `clk`, and `rst`, which is active high."""
        return CorePins()

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return what the core reads with `$readmemh`: texts by file names (`memory_file`).

        A parameter that names such a file is `./` and its name.

        Args:
            model: Holds the node's constants.
        """
        return {}

    def memory_file(self, what: str) -> str:
        """Return the name of a file for `$readmemh`, which is unique in a design: the node's name, and what it holds."""
        return f"{self.onnx_node.name}_{what}.dat"

    def generate_hdl(self, model: ModelWrapper, fpgapart: str, clk: float) -> None:
        """Write the layer's Verilog and its memory contents to `code_gen_dir_ipgen`.

        Raises:
            BuildError: Its lanes have been changed to what does not divide its streams.
        """
        divided = self.lanes_divide()
        if not divided:
            raise BuildError(f"layer {self.onnx_node.name!r}: {divided.reason}")
        folder = Path(self.get_nodeattr("code_gen_dir_ipgen"))
        module = self.get_verilog_top_module_name()
        self.set_nodeattr("gen_top_module", module)
        memories = self.core_memories(model)
        text = wrap_core(module, self.core, self.core_parameters(), self.core_streams(), self.core_pins())
        write_texts(folder, {**memories, f"{module}.v": text})
        for attribute in ("ipgen_path", "ip_path"):
            self.set_nodeattr(attribute, str(folder))

    @classmethod
    def core_files(cls) -> tuple[Path, ...]:
        """Return the core's source and those of its parts."""
        folder = Path(inspect.getfile(cls)).parent
        return tuple(folder / name for name in (*cls.parts, f"{cls.core}.sv"))

    def get_rtl_file_list(self, abspath: bool = False) -> list[str]:
        """Return the core's sources and the generated module."""
        generated = Path(self.get_nodeattr("code_gen_dir_ipgen"), f"{self.get_nodeattr('gen_top_module')}.v")
        return [str(file) if abspath else file.name for file in (*self.core_files(), generated)]

    def code_generation_ipi(self) -> list[str]:
        """Return the Tcl that adds the layer to a block design of Vivado."""
        module = self.get_nodeattr("gen_top_module")
        added = [f"add_files -norecurse {file}" for file in self.get_rtl_file_list(abspath=True)]
        return [*added, f"create_bd_cell -type module -reference {module} {self.onnx_node.name}"]

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Simulate the RTL if `exec_mode` is `rtlsim`, else compute as the kernel does."""
        if self.get_nodeattr("exec_mode") == "rtlsim":
            self._simulate(context, graph)
        else:
            super(RTLBackend, self).execute_node(context, graph)

    def _simulate(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Simulate one frame as FINN's nodes do, which would feed constants too.

        Raises:
            BuildError: A constant comes before a stream, or FINN's packing would round values of a stream.
        """
        node, fed = self.onnx_node, self.fed_inputs()
        outputs = (self.get_output_datatype(at) for at in range(len(node.output)))
        wide = [kind.name for kind in (*map(self.get_input_datatype, fed), *outputs) if is_wide(kind)]
        if wide:
            raise BuildError(
                f"layer {node.name!r} cannot be executed with exec_mode 'rtlsim': FINN packs streams in float32, "
                f"which does not hold all of {wide[0]}\n  simulate it as part of a stitched design"
            )
        if fed != tuple(range(len(fed))):
            raise BuildError(
                f"layer {node.name!r} cannot be executed with exec_mode 'rtlsim': its first input is a constant\n"
                "  exchange its inputs, or simulate it as part of a stitched design"
            )
        self.onnx_node = copy.deepcopy(node)
        del self.onnx_node.input[len(fed) :]
        try:
            RTLBackend.execute_node(self, context, graph)
            cycles = self.get_nodeattr("cycles_rtlsim")
        finally:
            self.onnx_node = node
        self.set_nodeattr("cycles_rtlsim", cycles)
