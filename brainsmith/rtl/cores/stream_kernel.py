"""A kernel as data: streams whose shapes, datatypes and lanes follow from attributes, and a function that is the truth."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp
from qonnx.core.datatype import DataType

from brainsmith.errors import ModelError
from brainsmith.figures import plural
from brainsmith.rtl.cores.expressions import evaluate, fill
from brainsmith.rtl.cores.integers import WHOLE
from brainsmith.rtl.cores.parallelism import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


@dataclass(frozen=True)
class StreamType:
    """One input or output.

    Attributes:
        name: Of the core's stream; a vector of streams is listed once for each of them.
        shape: Of a frame: numbers, or expressions of the node's attributes. Row-major in the stream.
        datatype: QONNX's name of it; expressions of attributes may stand in braces, `INT{BITS}`.
        lanes: Values in a beat, the first in the lowest bits; they divide the last axis.
    """

    name: str
    shape: tuple[int | str, ...]
    datatype: str
    lanes: int | str = 1


class StreamKernel(HWCustomOp):
    """Base of kernels that are described by class attributes.

    Attributes:
        attributes: The node's own, with their defaults: numbers or strings.
        inputs: In the order of the node's inputs.
        outputs: In the order of the node's outputs.
        cycles: From one frame to the next, as an expression.
        early: Whether the hardware may begin a frame before its first input beat, as padding does.
        golden: What the hardware must compute: from one int64 array for each input to an array, or a tuple of them.
            It gets those attributes that it names as keywords.
    """

    attributes: ClassVar[Mapping[str, int | str]] = {}
    inputs: ClassVar[tuple[StreamType, ...]]
    outputs: ClassVar[tuple[StreamType, ...]]
    cycles: ClassVar[int | str]
    early: ClassVar[bool] = False
    golden: ClassVar[Callable[..., Any]]

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the node's own attributes besides FINN's."""
        known: dict[str, Any] = super().get_nodeattr_types()
        for name, default in self.attributes.items():
            known[name] = ("i" if isinstance(default, int) else "s", False, default)
        return known

    def attribute_values(self) -> dict[str, int | str]:
        """Return the node's own attributes."""
        return {name: self.get_nodeattr(name) for name in self.attributes}

    def _lanes(self, stream: StreamType) -> int:
        lanes, last = evaluate(stream.lanes, self.attribute_values()), self._shape(stream)[-1]
        if lanes < 1 or last % lanes:
            raise ModelError(
                f"node {self.onnx_node.name!r}: {lanes} values in a beat of {stream.name!r} do not divide its last axis, "
                f"{last}"
            )
        return lanes

    def _shape(self, stream: StreamType) -> tuple[int, ...]:
        values = self.attribute_values()
        return tuple(evaluate(size, values) for size in stream.shape)

    def _folded(self, stream: StreamType) -> tuple[int, ...]:
        return folded(self._shape(stream), self._lanes(stream))

    def _datatype(self, stream: StreamType) -> BaseDataType:
        return DataType[fill(stream.datatype, self.attribute_values())]

    def get_input_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of an input."""
        return self._datatype(self.inputs[ind])

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of an output."""
        return self._datatype(self.outputs[ind])

    def get_normal_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of an input."""
        return self._shape(self.inputs[ind])

    def get_normal_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of an output."""
        return self._shape(self.outputs[ind])

    def get_folded_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of an input in beats, (..., beats, lanes)."""
        return self._folded(self.inputs[ind])

    def get_folded_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of an output in beats, (..., beats, lanes)."""
        return self._folded(self.outputs[ind])

    def get_instream_width(self, ind: int = 0) -> int:
        """Return the bits of an input's beat."""
        return int(self._lanes(self.inputs[ind]) * self.get_input_datatype(ind).bitwidth())

    def get_outstream_width(self, ind: int = 0) -> int:
        """Return the bits of an output's beat."""
        return int(self._lanes(self.outputs[ind]) * self.get_output_datatype(ind).bitwidth())

    def get_exp_cycles(self) -> int:
        """Return the cycles from one frame to the next."""
        return evaluate(self.cycles, self.attribute_values())

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Set the datatypes of the outputs.

        Raises:
            ModelError: An input has another datatype than the core takes.
        """
        node = self.onnx_node
        for at, name in enumerate(node.input):
            wanted, found = self.get_input_datatype(at), model.get_tensor_datatype(name)
            if found != wanted:
                raise ModelError(
                    f"node {node.name!r} takes {wanted.name}, and {name!r} is {found.name}: set its attributes, "
                    f"{', '.join(self.attributes)}"
                )
        for at, name in enumerate(node.output):
            model.set_tensor_datatype(name, self.get_output_datatype(at))

    def make_shape_compatible_op(self, model: ModelWrapper) -> Any:
        """Return a standard operator of the same output shapes."""
        made = super().make_shape_compatible_op(model)
        made.output[:] = self.onnx_node.output
        return made

    def verify_node(self) -> list[str]:
        """Return no messages: attributes are checked where they are used."""
        return []

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Compute the golden function.

        Raises:
            ModelError: It gives another number of arrays than the core has outputs, another shape, or values that the
                datatype of the output does not hold.
        """
        node, golden = self.onnx_node, type(self).golden
        taken = inspect.signature(golden).parameters
        named = {name: value for name, value in self.attribute_values().items() if name in taken}
        found = golden(*(context[name].astype(np.int64) for name in node.input), **named)
        results = found if isinstance(found, tuple) else (found,)
        if len(results) != len(node.output):
            raise ModelError(
                f"the golden function of {type(self).__name__} gives {plural(len(results), 'array')}, and the core has "
                f"{plural(len(node.output), 'output')}"
            )
        for at, (name, value) in enumerate(zip(node.output, results, strict=True)):
            context[name] = self._checked(at, np.asarray(value, np.float64)).astype(np.float32)

    def _checked(self, at: int, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what the golden function gives for an output, if the output can be that."""
        said = f"node {self.onnx_node.name!r}: the golden function of {type(self).__name__} gives"
        output, shape, datatype = (
            self.outputs[at].name,
            self.get_normal_output_shape(at),
            self.get_output_datatype(at),
        )
        if values.shape != shape:
            raise ModelError(
                f"{said} an array of shape {values.shape} for {output!r}, which has the shape {shape}"
            )
        if not datatype.is_integer():
            return values
        broken = values[values != np.rint(values)]
        if broken.size:
            raise ModelError(f"{said} {broken[0]:g} for {output!r}, which is not a whole number")
        outside = values[(values < datatype.min()) | (values > datatype.max())]
        if datatype == DataType["BIPOLAR"]:
            outside = values[np.abs(values) != 1]
        if outside.size:
            raise ModelError(
                f"{said} {int(outside[0])} for {output!r}, which {datatype.name} does not hold: it holds "
                f"{datatype.min():.0f} to {datatype.max():.0f}"
            )
        rounded = values[values.astype(np.float32) != values]
        if rounded.size:
            raise ModelError(
                f"{said} {int(rounded[0])} for {output!r}, which float32, the type of tensors, does not hold exactly: "
                f"whole numbers are exact up to {WHOLE}"
            )
        return values
