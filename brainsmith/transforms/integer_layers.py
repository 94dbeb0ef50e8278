"""IntegerLayers: a quantised network becomes layers of integers, exact by construction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.graph.ends import input_values
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard
from brainsmith.transforms.integer.batch_of_one import with_batch_of_one
from brainsmith.transforms.integer.constant_weights import integer_weights
from brainsmith.transforms.integer.fold_factors import fold_factors
from brainsmith.transforms.integer.given_thresholds import given_thresholds
from brainsmith.transforms.integer.host_part import OPERATORS, HostPart, HostTensor
from brainsmith.transforms.integer.integer_tensor import IntegerTensor, of_range
from brainsmith.transforms.integer.layer_builder import LayerBuilder
from brainsmith.transforms.integer.layer_graph import LayerGraph
from brainsmith.transforms.integer.level_record import LevelRecord, note_levels
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.quantised_constants import fold_what_is_no_weight
from brainsmith.transforms.integer.scaled_sum import ScaledSum
from brainsmith.transforms.integer.sums_of_scales import Approximated, SumsOfScales
from brainsmith.transforms.integer.tabled_link import function_of
from brainsmith.transforms.integer.threshold_rows import reached
from brainsmith.transforms.integer.xnor_products import count_equal_bits, with_negatives
from brainsmith.transforms.lattice.links import link_of
from brainsmith.transforms.lattice.staircases import Staircase, is_quantiser, is_thresholds, quantiser_of
from brainsmith.transforms.lattice.truncations import is_truncation, truncation_of

_Value = IntegerTensor | ScaledSum | HostTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

MOST_BITS = 8


@transform(
    stage="topology_opt",
    description="Rewrite a quantised network as layers of integers, each threshold where QONNX's level changes",
    requires=("qonnx",),
    tags=("quantisation",),
)
class IntegerLayers(Transformation):
    """Rewrite a network of QONNX as layers of integers, channels last, with the host's floats at its two ends.

    The graph is read once, in order. Of each tensor it is known which integers it is made of, their proven range, their
    scale, and which operators are pending: those that treat each element alone (factors, additions, normalisations,
    ReLU, functions that rise) are not moved through the network, but evaluated, with the network's own arithmetic, over
    the integers that can come in, where a quantiser follows. Its thresholds are where the level changes, so every
    rounding mode, sign and zero point comes out as in the network, ties included.

    Args:
        approximate: Whether sums of scales without a unit in common may have the closest whole factors, where none give
            the same levels.

    Attributes:
        approximated: The sums that are not exact, and by how much they are off, of the last model.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, and why.
    """

    def __init__(self, approximate: bool = False) -> None:
        super().__init__()
        self._approximate = approximate
        self.approximated: list[Approximated] = []

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Rewrite all of it; the flag is always False."""
        reading = _Reading(fold_what_is_no_weight(model), self._approximate)
        made = reading.network()
        self.approximated = reading.sums.approximated
        return made, False


class _Reading:
    """One network on its way to layers."""

    def __init__(self, model: ModelWrapper, approximate: bool) -> None:
        model, self._why_batch = with_batch_of_one(model)
        self._view = GraphView(model)
        self._graph = LayerGraph()
        self._build = LayerBuilder(self._graph)
        self.sums = SumsOfScales(self._build, approximate)
        self._host = HostPart(self._view, self._graph)
        self._known: dict[str, _Value] = {}
        self._fixed: set[str] = set()
        self._reasons: list[str] = []

    def network(self) -> ModelWrapper:
        view = self._view
        self._graph.used.update(value.name for value in (*view.graph.input, *view.graph.output))
        for value in input_values(view.graph):
            self._input(value.name)
        for node in view.graph.node:
            if not self._varying(node):
                self._fixed.update(node.output)
            else:
                self._node(node)
        if self._reasons:
            raise ModelError(_listed(self._reasons))
        for value in view.graph.output:
            self._output(value.name)
        fold_factors(self._graph)
        count_equal_bits(self._graph)
        made = self._graph.write(view.model)
        note_levels(made, self._records())
        return made

    def _records(self) -> dict[str, LevelRecord]:
        """Return where the levels of each quantiser are, for those who compare them."""
        levels = {
            node.output[0]: found
            for node in self._view.graph.node
            if is_quantiser(node) and isinstance(found := self._known.get(node.output[0]), IntegerTensor)
        }
        return {
            name: LevelRecord.of(found, *self._graph.placed(found.name)) for name, found in levels.items()
        }

    def _input(self, name: str) -> None:
        model = self._view.model
        shape, datatype = tuple(model.get_tensor_shape(name)), model.get_tensor_datatype(name)
        if not datatype.is_integer():
            self._known[name] = HostTensor(name, shape, True, "it has no quantiser, and no integer datatype")
            return
        low, high = int(datatype.min()), int(datatype.max())
        if datatype.name == "BIPOLAR" and self._meets_padding(name):
            model.set_tensor_datatype(name, DataType["INT2"])  # zeros will stand beside the values
        source = self._host.channels_last(name, shape, (np.asarray([low]), np.asarray([high])))
        self._known[name] = of_range(source, shape, low, high)

    def _varying(self, node: NodeProto) -> list[str]:
        """Return the inputs of a node that are computed of the network's inputs."""
        return [
            name
            for name in node.input
            if name and name not in self._fixed and self._view.constant(name) is None
        ]

    def _node(self, node: NodeProto) -> None:
        """Enter what a node gives; where one of its inputs has no layer, neither has it, for the same reason."""
        given = {name: self._known.get(name) for name in self._varying(node)}
        if any(value is None for value in given.values()):
            return
        try:
            found = self._layer(node, given)
        except NoLayerError as error:
            found = self._on_host(node, given, str(error))
        for name, value in zip(node.output, found, strict=False):
            if name:
                self._known[name] = value

    def _layer(self, node: NodeProto, given: dict[str, Any]) -> list[_Value]:
        base = node.name or node.output[0]
        first = next(iter(given.values()))
        if is_quantiser(node):
            return [self._quantiser(node, quantiser_of(self._view, node), first, base)]
        if is_thresholds(node):
            return [self._quantiser(node, given_thresholds(self._view, node), first, base)]
        if is_truncation(node):
            return [self._quantiser(node, truncation_of(self._view, node), first, base)]
        on_host = [value for value in given.values() if isinstance(value, HostTensor)]
        if on_host:
            raise NoLayerError(f"it gets floats: {on_host[0].reason}")
        if (link := link_of(self._view, node)) is not None:
            behind = first.behind(link)
            if behind is None:
                raise NoLayerError("its operand is neither one number nor one for each channel")
            return [behind]
        if all(isinstance(value, IntegerTensor) for value in given.values()) and not _is_sum(node, given):
            function = function_of(self._view, node, given)
            if function is not None:
                return [replace(first, links=(function,))]
        rule = _RULES.get(node.op_type) if is_standard(node, node.op_type) else None
        if rule is None:
            raise NoLayerError("no layer of integers computes this operator")
        if rule is not _Reading._sum:
            self._known.update(
                (name, self.sums.of_one_scale(value, node_text(node)))
                for name, value in given.items()
                if isinstance(value, ScaledSum)
            )
            first = self._known[next(iter(given))]
        found = rule(self, node, first, base)
        return found if isinstance(found, list) else [found]

    def _on_host(self, node: NodeProto, given: dict[str, Any], reason: str) -> list[Any]:
        """Leave a node to the host, if the host may have it; else note the reason."""
        if not is_standard(node, *OPERATORS):
            self._reasons.append(f"{node_text(node)}: {reason}")
            return []
        floats = {name: self._on_host_side(value, reason) for name, value in given.items()}
        return list(self._host.apply(node, floats, f"{node_text(node)} stays on the host: {reason}"))

    def _on_host_side(self, value: _Value, reason: str = "") -> HostTensor:
        """Return a value as the host has it."""
        if isinstance(value, HostTensor):
            return value
        if isinstance(value, ScaledSum):
            return self._host.sum(self.sums.terms(value, "an output"), value.chain.links, reason)
        return self._host.floats(value, reason)

    def _output(self, name: str) -> None:
        value = self._known[name]
        host = self._on_host_side(value)
        if not self._graph.rename(host.name, name, [end.name for end in self._view.graph.output]):
            self._graph.add("Identity", [host.name], name, host.shape, result=name)

    def _quantiser(self, node: NodeProto, staircase: Staircase, value: _Value, base: str) -> IntegerTensor:
        padded = self._meets_padding(node.output[0])
        if isinstance(value, ScaledSum):
            _check_levels(staircase)
            return self.sums.quantised(value, staircase, padded, node_text(node), base)
        if isinstance(value, HostTensor):
            if not value.in_front or not is_quantiser(node):
                raise NoLayerError(f"it gets floats: {value.reason}")
            return self._host.quantised(value, staircase, base)
        if not value.is_tabled:
            staircase = reached(value, staircase)
            _check_levels(staircase)
        return self._build.thresholds(value, staircase, padded, base)

    def _meets_padding(self, name: str) -> bool:
        """Tell whether zeros are put beside a tensor's values, as convolutions and pools do."""
        for node in self._view.nodes_reading(name):
            if any(attribute(node, "pads", [])) or node.op_type == "Pad":
                return True
            if (
                not is_quantiser(node)
                and node.op_type not in ("MatMul", "Conv", "Gemm")
                and self._meets_padding(node.output[0])
            ):
                return True
        return False

    # --- one method for each operator ---

    def _matmul(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor | ScaledSum:
        weights = integer_weights(self._view, node.input[1], columns=True)
        if self._view.constant(node.input[0]) is not None or weights is None:
            raise NoLayerError(
                "its second factor is not constant" if weights is None else "its first factor is constant"
            )
        if weights.values.ndim != 2 or tensor.is_image:
            raise NoLayerError("its weights are no matrix behind rows")
        return self._product(node, tensor, weights.values, weights.scale, base)

    def _gemm(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor | ScaledSum:
        flipped = bool(attribute(node, "transB", 0))
        weights = integer_weights(self._view, node.input[1], columns=not flipped)
        plain = attribute(node, "alpha", 1.0) == attribute(node, "beta", 1.0) == 1 and not attribute(
            node, "transA", 0
        )
        if weights is None or not plain or tensor.is_image:
            raise NoLayerError(
                "its weights are not constant" if weights is None else "it has factors, or a transposed input"
            )
        values = weights.values.T if flipped else weights.values
        found = self._product(node, tensor, values, weights.scale, base)
        return self._biased(node, found)

    def _product(
        self, node: NodeProto, tensor: IntegerTensor, values: Any, scale: Any, base: str
    ) -> IntegerTensor | ScaledSum:
        shape = (*tensor.shape[:-1], values.shape[1])
        return self._build.product(tensor, values, scale, shape, base)

    def _biased(self, node: NodeProto, found: IntegerTensor | ScaledSum) -> IntegerTensor | ScaledSum:
        if len(node.input) < 3 or not node.input[2]:
            return found
        bias = self._view.constant(node.input[2])
        if bias is None or bias.size not in (1, found.shape[1]):
            raise NoLayerError("its bias is not constant, or not one number for each channel")
        return self._build.with_offset(found, node, bias.reshape(-1))

    def _conv(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor | ScaledSum:
        weights = integer_weights(self._view, node.input[1], columns=False)
        self._image(tensor)
        if weights is None or weights.values.ndim != 4:
            raise NoLayerError("its weights are not constant")
        found = self._build.convolution(tensor, weights.values, weights.scale, node, self._window(node), base)
        return self._biased(node, found)

    def _window(self, node: NodeProto) -> dict[str, Any]:
        if attribute(node, "ceil_mode", 0) or attribute(node, "auto_pad", b"NOTSET") not in (
            b"NOTSET",
            b"VALID",
        ):
            raise NoLayerError("its ceil_mode or auto_pad is not written out as padding")
        return {
            "shape": tuple(self._view.model.get_tensor_shape(node.output[0])),
            "kernel": list(attribute(node, "kernel_shape", [])),
            "strides": list(attribute(node, "strides", [1, 1])),
            "pads": list(attribute(node, "pads", [0, 0, 0, 0])),
            "dilations": list(attribute(node, "dilations", [1, 1])),
            "group": attribute(node, "group", 1),
        }

    def _image(self, tensor: IntegerTensor) -> None:
        if not tensor.is_image or tensor.shape[0] != 1:
            why = f"; {self._why_batch}" if self._why_batch else ""
            raise NoLayerError(
                f"it slides over the shape {list(tensor.shape)}, and layers take one image, (1, C, H, W){why}"
            )

    def _max_pool(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor:
        self._image(tensor)
        window = self._window(node)
        if len(node.output) > 1 or window["dilations"] != [1, 1]:
            raise NoLayerError("it gives indices, or has dilations")
        return self._build.maximum(tensor, window, base)

    def _average_pool(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor | ScaledSum:
        self._image(tensor)
        window = self._window(node)
        if any(window["pads"]) and not attribute(node, "count_include_pad", 0):
            raise NoLayerError("its means at the edges are of fewer values")
        window["group"] = channels = tensor.channels
        count = int(np.prod(window["kernel"]))
        ones = np.ones((channels, 1, *window["kernel"]), np.int64)
        return self._build.divided(
            self._build.convolution(tensor, ones, np.ones(1), node, window, base), node, count
        )

    def _mean(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor:
        self._image(tensor)
        return self._build.mean(tensor, node, base)

    def _sum(self, node: NodeProto, _: object, base: str) -> IntegerTensor | ScaledSum:
        """Add two tensors; what the first one is a sum of is added one by one."""
        given = [self._known.get(name) for name in node.input[:2]]
        if node.op_type == "Add" and isinstance(given[1], ScaledSum):
            given.reverse()
        terms: list[IntegerTensor] = []
        for at, value in enumerate(given):
            if isinstance(value, ScaledSum) and at == 0 and value.added and not value.chain.links:
                terms += value.terms()
            elif isinstance(value, ScaledSum):
                terms.append(self.sums.of_one_scale(value, node_text(node)))
            elif isinstance(value, IntegerTensor):
                terms.append(value)
            else:
                raise NoLayerError(
                    "one of its terms is a constant that is neither one number nor one for each channel"
                )
        if any(each.shape != terms[0].shape or not _same_order(each, terms[0]) for each in terms):
            raise NoLayerError("its terms have different shapes")
        if node.op_type == "Sub":
            last = self._build.integers(terms[-1], base)
            terms[-1] = replace(last, scale=-last.scale, offset=-last.offset)
        return self._build.sum(terms, base)

    def _concat(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor:
        parts = [self._known.get(name) for name in node.input]
        rank = len(tensor.shape)
        if not all(isinstance(part, IntegerTensor) and part.order is None for part in parts):
            raise NoLayerError("one of its parts is constant, or was an image")
        if attribute(node, "axis", 1) % rank != tensor.axis % rank:
            raise NoLayerError("it joins along another axis than the channels'")
        shape = tuple(self._view.model.get_tensor_shape(node.output[0]))
        return self._build.concatenation(
            [part for part in parts if isinstance(part, IntegerTensor)], shape, base
        )

    def _split(self, node: NodeProto, tensor: IntegerTensor, base: str) -> list[IntegerTensor]:
        if (
            attribute(node, "axis", 0) % len(tensor.shape) != tensor.axis % len(tensor.shape)
            or tensor.order is not None
        ):
            raise NoLayerError("it splits along another axis than the channels'")
        shapes = [tuple(self._view.model.get_tensor_shape(name)) for name in node.output]
        return self._build.parts(tensor, shapes, base)

    def _reshape(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor:
        to = tuple(self._view.model.get_tensor_shape(node.output[0]))
        found = self._build.reshaped(tensor, to, base)
        if found is None:
            raise NoLayerError(
                f"it makes {list(to)} of {list(tensor.shape)}: an image can only become one row"
            )
        return found

    def _top_k(self, node: NodeProto, tensor: IntegerTensor, base: str) -> list[_Value]:
        """The place of the largest integer is that of the largest value, where one scale and one offset are all's."""
        plain = tensor.affine()
        if plain is not None and self._view.readers(node.input[0]) == 1:
            plain = with_negatives(self._graph, plain)
        count = None if len(node.input) < 2 else self._view.constant(node.input[1])
        of_rows = (
            attribute(node, "axis", -1) % len(tensor.shape) == len(tensor.shape) - 1 and not tensor.is_image
        )
        if (
            plain is None
            or plain.scale.size > 1
            or plain.offset.size > 1
            or plain.scale[0] <= 0
            or plain.order is not None
        ):
            raise NoLayerError("it compares values whose scales or offsets are those of each channel")
        if (
            count is None
            or count.size != 1
            or count.reshape(-1)[0] != 1
            or not of_rows
            or not attribute(node, "largest", 1)
        ):
            raise NoLayerError("only the largest value of a row has a layer")
        if node.output[0] and self._view.readers(node.output[0]):
            raise NoLayerError("its values are read")
        shapes = [tuple(self._view.model.get_tensor_shape(name)) for name in node.output]
        return list(self._build.largest(plain, shapes, base))

    def _same(self, node: NodeProto, tensor: IntegerTensor, base: str) -> IntegerTensor:
        return tensor


def _check_levels(staircase: Staircase) -> None:
    steps = (staircase.high - staircase.low) // staircase.step
    if steps >= 1 << MOST_BITS:
        raise NoLayerError(f"it has {steps + 1} levels, more than the {1 << MOST_BITS} that thresholds give")


def _is_sum(node: NodeProto, given: dict[str, Any]) -> bool:
    """Tell whether a node adds integers as they are."""
    return node.op_type in ("Add", "Sub") and all(value.affine() is not None for value in given.values())


def _same_order(left: IntegerTensor, right: IntegerTensor) -> bool:
    if left.order is None or right.order is None:
        return left.order is right.order
    return bool(np.array_equal(left.order, right.order))


_RULES: dict[str, Callable[[_Reading, NodeProto, Any, str], Any]] = {
    "Add": _Reading._sum,
    "AveragePool": _Reading._average_pool,
    "Concat": _Reading._concat,
    "Conv": _Reading._conv,
    "Dropout": _Reading._same,
    "Flatten": _Reading._reshape,
    "Gemm": _Reading._gemm,
    "GlobalAveragePool": _Reading._mean,
    "MatMul": _Reading._matmul,
    "MaxPool": _Reading._max_pool,
    "Reshape": _Reading._reshape,
    "Split": _Reading._split,
    "Squeeze": _Reading._reshape,
    "Sub": _Reading._sum,
    "TopK": _Reading._top_k,
    "Unsqueeze": _Reading._reshape,
}
"""What makes layers of which operator."""


def _listed(reasons: list[str]) -> str:
    if len(reasons) == 1:
        return f"no integer layers for {reasons[0]}"
    return "\n".join([f"no integer layers for {len(reasons)} nodes:", *(f"  {reason}" for reason in reasons)])
