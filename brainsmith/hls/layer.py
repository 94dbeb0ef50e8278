"""A layer's C++ over stacks of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, SimulationError
from brainsmith.figures import plural
from brainsmith.hls.program import compile_program, run_program
from brainsmith.hls.words import from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.hls.program import HlsProgram

    Stacks = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class HlsLayer:
    """A node of a model, and the program of its C++.

    Attributes:
        layer: The instance of FINN's HLS backend.
        program: What is compiled.
        calls: How often its function is called for one sample.
    """

    layer: Any
    program: HlsProgram
    calls: int = 1

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tensors that come in streams."""
        fed = {stream.name for stream in self.program.streams if stream.fed}
        return tuple(name for at, name in enumerate(self.layer.onnx_node.input) if f"in{at}_V" in fed)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tensors that it gives."""
        return tuple(self.layer.onnx_node.output)

    def compile(self) -> None:
        """Compile the program, or find that it is.

        Raises:
            SimulationError: The compiler rejects it.
            ToolError: The compiler or the headers are missing.
        """
        compile_program(self.program)

    def run(self, stacks: Stacks) -> dict[str, npt.NDArray[Any]]:
        """Run samples: the function is called for one after the other, with all beats there from the start.

        Args:
            stacks: (samples, *shape) of each of `inputs`.

        Raises:
            BuildError: A value does not fit its datatype, or the function does not take or give all beats.
        """
        layer = self.layer
        name = f"node '{layer.onnx_node.name}' ({layer.onnx_node.op_type})"
        samples = len(next(iter(stacks.values())))
        words, counts, shapes = {}, {}, {}
        try:
            _check_defined(layer, stacks)
            for at, tensor in enumerate(layer.onnx_node.input):
                if tensor in self.inputs:
                    folded = stacks[tensor].reshape(samples, *layer.get_folded_input_shape(at))
                    words[f"in{at}_V"] = to_words(folded, layer.get_input_datatype(at))
            for at in range(len(self.outputs)):
                shapes[at] = tuple(layer.get_folded_output_shape(at))
                counts[f"out{at}_V"] = samples * int(np.prod(shapes[at][:-1]))
            given = run_program(self.program, words, counts, samples * self.calls)
        except (SimulationError, ValueError) as error:
            raise BuildError(f"{name} cannot be executed: {error}") from error
        found = {}
        for at, tensor in enumerate(self.outputs):
            values = from_words(given[f"out{at}_V"], layer.get_output_datatype(at), shapes[at][-1])
            shape = layer.get_normal_output_shape(at)
            found[tensor] = values.reshape(samples, *shape).astype(np.float32)
        return found


def _check_defined(layer: Any, stacks: Stacks) -> None:
    """Refuse values for which C++ has no result, and would end this process.

    Raises:
        ValueError: An index is outside of a table, or whole numbers are divided by 0.
    """
    node = layer.onnx_node
    if node.op_type == "Lookup_hls":
        entries = layer.get_nodeattr("NumEmbeddings")
        if (stacks[node.input[0]] >= entries).any():
            raise ValueError(f"an index is outside of the {plural(entries, 'entry', 'entries')}")
    if node.op_type == "ElementwiseDiv_hls" and layer.get_input_datatype(1).is_integer():
        divisors = stacks.get(node.input[1])
        if divisors is not None and not divisors.all():
            raise ValueError("whole numbers are divided by 0")


def make_layer(node: Any, model: ModelWrapper) -> tuple[HlsLayer | None, str]:
    """Return a node's layer in C++, or why there is none.

    Args:
        node: In the domain of an HLS backend.
        model: That holds it.
    """
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.hls.finn_program import finn_program, generate, why_not
    from brainsmith.hls.node import HlsNode

    layer = getCustomOp(node)
    if isinstance(layer, HlsNode):
        return HlsLayer(layer, layer.hls_program(), layer.calls()), ""
    try:
        generated = generate(layer, model)
    except Exception as error:  # noqa: BLE001  (FINN's generators raise anything)
        return None, f"FINN generates no C++ of it: {str(error).strip() or type(error).__name__}"
    reason = why_not(layer, generated)
    return (None, reason) if reason else (HlsLayer(layer, finn_program(layer, generated)), "")
