"""IntegerLayers: a quantised network becomes layers of integers, exact by construction."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.graph.ends import input_values
from brainsmith.graph.integer_range import within
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.adapters.graph_edits import names_read
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, is_standard
from brainsmith.transforms.integer.batch_of_one import with_batch_of_one
from brainsmith.transforms.integer.differences import subtract
from brainsmith.transforms.integer.fold_factors import fold_factors
from brainsmith.transforms.integer.function_rules import FunctionRules
from brainsmith.transforms.integer.host_part import OPERATORS, HostPart, HostTensor
from brainsmith.transforms.integer.integer_tensor import ORDERS, IntegerTensor, of_range
from brainsmith.transforms.integer.largest_values import largest_values
from brainsmith.transforms.integer.layer_builder import LayerBuilder
from brainsmith.transforms.integer.layer_graph import LayerGraph, LayerTensor
from brainsmith.transforms.integer.layouts import Layouts
from brainsmith.transforms.integer.level_record import LevelRecord, note_levels
from brainsmith.transforms.integer.linear_rules import LinearRules
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.no_layer import NO_REASON, OTHER_OPERATORS, NoLayerError, Reason
from brainsmith.transforms.integer.padding import meets_padding, meets_sum
from brainsmith.transforms.integer.position_constants import with_positions
from brainsmith.transforms.integer.quantised_constants import fold_what_is_no_weight
from brainsmith.transforms.integer.read_staircase import check_levels, staircase_of
from brainsmith.transforms.integer.refusals import Refusals
from brainsmith.transforms.integer.row_function import RowFunction, row_function
from brainsmith.transforms.integer.row_layers import RowLayers
from brainsmith.transforms.integer.row_rules import RowRules
from brainsmith.transforms.integer.scaled_sum import ScaledSum
from brainsmith.transforms.integer.structure_rules import StructureRules
from brainsmith.transforms.integer.sums_of_scales import Approximated, SumsOfScales
from brainsmith.transforms.integer.tensor_records import (
    Findings,
    input_record,
    output_record,
    quantiser_record,
    tensor_records,
)
from brainsmith.transforms.integer.threshold_rows import reached
from brainsmith.transforms.integer.unknown_inputs import UnknownInputs
from brainsmith.transforms.integer.wide_sums import widen_sums
from brainsmith.transforms.integer.window_rules import WindowRules
from brainsmith.transforms.integer.xnor_products import count_equal_bits
from brainsmith.transforms.lattice.links import link_of
from brainsmith.transforms.lattice.staircases import is_quantiser

RANKS = tuple(rank for rank in ORDERS if rank > 1)
"""How many axes a tensor of layers has."""

_Rows = IntegerTensor | ScaledSum | MovedTensor
_Value = _Rows | RowFunction | HostTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.lattice.staircases import Staircase


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
        approximate: Whether sums of scales without a common unit may have the closest whole factors, where none give
            the same levels.

    Attributes:
        approximated: The sums that are not exact, and by how much they are off, of the last model.
        findings: What each tensor of the last model is made of; None before there was one.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, and why.
    """

    def __init__(self, approximate: bool = False) -> None:
        super().__init__()
        self._approximate = approximate
        self.approximated: list[Approximated] = []
        self.findings: Findings | None = None

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Rewrite all of it; the flag is always False."""
        reading = _Reading(fold_what_is_no_weight(model), self._approximate)
        made = reading.network()
        self.approximated = reading.sums.approximated
        self.findings = reading.findings
        return made, False


class _Reading:
    """One network on its way to layers."""

    def __init__(self, model: ModelWrapper, approximate: bool) -> None:
        model, why_batch = with_batch_of_one(model)
        self._view = GraphView(model)
        self._graph = LayerGraph()
        self._build = LayerBuilder(self._graph)
        self.sums = SumsOfScales(self._build, approximate)
        self._layouts = Layouts(self._build, self.sums)
        self._structure = StructureRules(self._view, self._build, self._layouts)
        self._windows = WindowRules(self._view, self._build, self._layouts, self._structure, why_batch)
        self._host = HostPart(self._view, self._graph)
        self._row_rules = RowRules(self._view, self._build, self._layouts)
        self._functions = FunctionRules(self._view, self._layouts, self.sums)
        self._rows = RowLayers(self._build, self._layouts, self._host)
        self._linear = LinearRules(
            self._view, self._build, self._layouts, self.sums, self._rows, self._windows
        )
        self._known: dict[str, _Value] = {}
        self._fixed: set[str] = set()
        self._refusals = Refusals()
        self._unknown = UnknownInputs(self._view, self._host, self._has_rule)
        self.findings = Findings([], [], [], [])

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
        self._outputs()
        if self._refusals:
            raise self._refusals.error()
        fold_factors(self._graph)
        subtract(self._graph)
        count_equal_bits(self._graph)
        self.findings.tensors += tensor_records(self._graph, self._known)
        widen_sums(self._graph, self._input_tensors(), self._refusals)
        made = self._graph.write(view.model)
        note_levels(made, self._records())
        return made

    def _input_tensors(self) -> dict[str, LayerTensor]:
        """Return what is known of the network's inputs, by name."""
        found = {}
        for value in input_values(self._view.graph):
            kind = self._view.model.get_tensor_datatype(value.name)
            ends = within(int(kind.min()), int(kind.max())) if kind.is_integer() else None
            found[value.name] = LayerTensor(tuple(self._view.shape(value.name)), ends)
        return found

    def _records(self) -> dict[str, LevelRecord]:
        """Return where the levels of each quantiser are, for those who compare them."""
        found = {}
        for node in filter(is_quantiser, self._view.graph.node):
            value = self._known.get(node.output[0])
            tensor = value.base if isinstance(value, MovedTensor) else value
            if isinstance(tensor, IntegerTensor):
                layout = value.layout if isinstance(value, MovedTensor) else None
                placed = self._graph.placed(tensor.name)
                found[node.output[0]] = LevelRecord.of(tensor, *placed, layout)
        return found

    def _input(self, name: str) -> None:
        model = self._view.model
        self._graph.origin = f"input '{name}'"
        self.findings.inputs.append(input_record(model, name))
        shape, datatype = tuple(model.get_tensor_shape(name)), model.get_tensor_datatype(name)
        if not shape:
            self._refusals.add(
                f"input '{name}'", Reason("it is one number without axes", "give it an axis or two")
            )
            return
        if not datatype.is_integer():
            self._known[name] = HostTensor(name, shape, True, _FLOATS.behind(f"input '{name}'"))
            return
        if datatype.name == "BIPOLAR" and (meets_padding(self._view, name) or meets_sum(self._view, name)):
            # Zeros may stand beside the values; what else INT2 holds may come in, too.
            datatype = DataType["INT2"]
            model.set_tensor_datatype(name, datatype)
        low, high = int(datatype.min()), int(datatype.max())
        ends = within(low, high)
        source, placed = name, shape
        if len(shape) not in RANKS:
            placed = (1, prod(shape))
            source = self._graph.reshape(name, placed, ends, f"{name}_row")
        image = self._host.image_shape(placed)
        source = self._host.channels_last(source, placed, image, ends)
        self._known[name] = self._layouts.reshaped(of_range(source, image, low, high), shape, name)

    def _varying(self, node: NodeProto) -> list[str]:
        """Return what a node reads, its nested graphs included, that is computed of the network's inputs."""
        return [
            name
            for name in dict.fromkeys(names_read(node))
            if (name in node.input or name in self._known or self._view.made_by(name) is not None)
            and name not in self._fixed
            and not self._view.is_constant(name)
        ]

    def _node(self, node: NodeProto) -> None:
        """Enter what a node gives; where that of one of its inputs is not known, only what is known all the same."""
        given = {name: self._known.get(name) for name in self._varying(node)}
        self._graph.origin = f"{node.op_type} '{node.name or node.output[0]}'"
        if any(value is None for value in given.values()):
            found = self._of_unknown(node)
        else:
            try:
                found = self._layer(node, given)
            except NoLayerError as error:
                found = self._on_host(node, given, error.reason)
        for name, value in zip(node.output, found, strict=False):
            if name:
                self._known[name] = value

    def _layer(self, node: NodeProto, given: dict[str, Any]) -> list[_Value]:
        base = node.name or node.output[0]
        first = next(iter(given.values()))
        if (staircase := staircase_of(self._view, node)) is not None:
            return [self._quantiser(node, staircase, first, base)]
        if (found := self._of_floats(node, given) or row_function(self._view, node, first)) is not None:
            return [found]
        if len(given) == 1 and (behind := self._behind(node, first, base)) is not None:
            return [behind]
        if (function := self._functions.result(node, given)) is not None:
            return [function]
        if self._row_rules.has(node, given):
            return [self._row_rules.result(node, given, base)]
        if self._structure.has(node):
            return list(self._structure.results(node, given, base))
        if self._windows.has(node):
            return [self._windows.result(node, first, base)]
        if self._linear.has(node):
            return [self._linear.result(node, given, base)]
        return self._by_rule(node, given, base)

    def _of_unknown(self, node: NodeProto) -> list[_Value]:
        try:
            self._unknown.check(node)
        except NoLayerError as error:
            return self._refused(node, error.reason)
        return self._of_anything(node)

    def _refused(self, node: NodeProto, reason: Reason) -> list[_Value]:
        self._refusals.add(node_text(node), reason)
        return self._of_anything(node)

    def _of_anything(self, node: NodeProto) -> list[_Value]:
        """Return what a node without layers gives, as far as that is known: the levels of a quantiser."""
        levels = self._unknown.levels(node)
        return (
            []
            if levels is None
            else [self._layouts.reshaped(levels, self._view.shape(node.output[0]), levels.name)]
        )

    def _has_rule(self, node: NodeProto) -> bool:
        rules = (self._structure, self._windows, self._linear)
        known = is_standard(node, *_RULES) or any(each.has(node) for each in rules)
        return known or self._row_rules.has(node, {})

    def _behind(self, node: NodeProto, value: _Rows, base: str) -> _Rows | None:
        """Return a tensor after an operator that treats each value alone; None if a node is no such operator.

        Raises:
            NoLayerError: Its operand is of another shape.
        """
        link = link_of(self._view, node)
        behind = None if link is None else value.behind(link)
        if behind is None and link is not None and isinstance(value, MovedTensor):
            behind = self._layouts.settled(value, base).behind(link)
        if behind is None:
            behind = with_positions(self._view, self._layouts, node, value, base)
        if behind is None and link is not None:
            raise NoLayerError(
                "its operand is neither one number nor one for each channel",
                "use one number, or one for each channel",
            )
        return behind

    def _of_floats(self, node: NodeProto, given: dict[str, Any]) -> RowFunction | None:
        """Return what a node makes of a function of rows; None if all that it gets is integers.

        Raises:
            NoLayerError: It gets other floats, or the operator is no pending one.
        """
        for value in given.values():
            if isinstance(value, HostTensor):
                raise NoLayerError(f"it gets floats: {value.reason.text}", value.reason.helps)
            if isinstance(value, RowFunction):
                link = link_of(self._view, node)
                behind = None if link is None else value.behind(link)
                if behind is None:
                    raise NoLayerError(
                        f"it gets floats of {node_text(value.node)}", "put a quantiser between them"
                    )
                return behind
        return None

    def _by_rule(self, node: NodeProto, given: dict[str, Any], base: str) -> list[_Value]:
        rule = _RULES.get(node.op_type) if is_standard(node, node.op_type) else None
        if rule is None:
            raise _no_rule(node)
        found = rule(self, node, self.sums.of_one_scale(next(iter(given.values())), node_text(node)), base)
        return found if isinstance(found, list) else [found]

    def _on_host(self, node: NodeProto, given: dict[str, Any], reason: Reason) -> list[Any]:
        """Leave a node to the host, if the host may have it; else note the reason."""
        if not is_standard(node, *OPERATORS):
            return self._refused(node, reason)
        try:
            floats = {name: self._on_host_side(value, reason) for name, value in given.items()}
        except NoLayerError as error:
            return self._refused(node, error.reason)
        return list(self._host.apply(node, floats, reason.behind(f"{node_text(node)} stays on the host")))

    def _on_host_side(self, value: _Value, reason: Reason = NO_REASON) -> HostTensor:
        """Return a value as the host has it."""
        if isinstance(value, HostTensor):
            return value
        if isinstance(value, RowFunction):
            return self._floats_of_rows(value, reason)
        if isinstance(value, ScaledSum):
            return self._host.sum(self.sums.terms(value, "an output"), value.chain.links, reason)
        if isinstance(value, MovedTensor):
            return self._host.moved(self._on_host_side(value.base, reason), value.layout)
        return self._host.floats(value, reason)

    def _floats_of_rows(self, function: RowFunction, reason: Reason) -> HostTensor:
        """Return a Softmax as the host has it, and a normalisation as a kernel may have it."""
        node = function.node
        if node.op_type != "Softmax":
            return self._rows.floats(function, node.name or node.output[0], reason)
        source = self._on_host_side(function.source, reason)
        found = self._host.apply(node, {node.input[0]: source}, reason)[0]
        return self._host.linked(function.chain.links, found, reason)

    def _outputs(self) -> None:
        """Give the outputs their names; only when all are there, because one may be made of what another is."""
        found: dict[str, HostTensor] = {}
        for value in self._view.graph.output:
            if value.name not in self._known:
                if value.name in self._fixed or self._view.is_constant(value.name):
                    self._refusals.add(f"output '{value.name}'", _ALWAYS_THE_SAME)
                continue
            self._graph.origin = f"output '{value.name}'"
            try:
                found[value.name] = self._on_host_side(self._known[value.name])
            except NoLayerError as error:
                self._refusals.add(f"output '{value.name}'", error.reason)
        made: dict[str, str] = {}
        for name, host in found.items():
            if (source := made.get(host.name, host.name)) != host.name or not self._graph.rename(
                host.name, name, [end.name for end in self._view.graph.output]
            ):
                self._graph.add("Identity", [source], name, host.shape, result=name)
            made.setdefault(host.name, name)
            self.findings.outputs.append(output_record(name, self._known[name]))

    def _quantiser(self, node: NodeProto, staircase: Staircase, value: _Value, base: str) -> _Value:
        if isinstance(value, HostTensor):
            if not value.in_front or not is_quantiser(node):
                raise NoLayerError(f"it gets floats: {value.reason.text}", value.reason.helps)
            given = value
            if len(value.shape) not in RANKS:
                if staircase.channels > 1:
                    raise NoLayerError(
                        f"it has a scale for each channel of the shape {list(value.shape)}",
                        "use one scale for all values, or an input of 2 to 4 axes",
                    )
                given = self._host.reshaped(value, (1, prod(value.shape)))
            levels = self._host.quantised(given, staircase, base)
            self.findings.quantisers.append(quantiser_record(self._view, staircase, levels))
            return self._layouts.reshaped(levels, value.shape, base)
        if isinstance(value, RowFunction):
            return self._rows.quantised(value, staircase, base)
        if isinstance(value, MovedTensor):
            of_base = value.staircase(staircase)
            if of_base is not None:
                moved = replace(value, base=self._levels(node, of_base, value.base, base))
                rows = moved.is_rows and not moved.is_one_dimensional_image
                if rows and self._view.readers(node.output[0]) > 1:  # reshaped once for all of them
                    return self._layouts.settled(moved, f"{base}_rows", in_order=True)
                return moved
            value = self._layouts.settled(value, base)
        return self._levels(node, staircase, value, base)

    def _levels(
        self, node: NodeProto, staircase: Staircase, value: IntegerTensor | ScaledSum, base: str
    ) -> IntegerTensor:
        padded = meets_padding(self._view, node.output[0])
        if isinstance(value, ScaledSum):
            check_levels(staircase)
            return self.sums.quantised(value, staircase, padded, node_text(node), base)
        if not value.is_tabled:
            staircase = reached(value, staircase)
            check_levels(staircase)
        return self._build.thresholds(value, staircase, padded, base)

    def _top_k(self, node: NodeProto, value: _Rows, base: str) -> list[_Value]:
        return list(largest_values(self._view, self._build, self._layouts, node, value, base))

    def _same(self, node: NodeProto, value: _Rows, base: str) -> _Value:
        return value


_ALWAYS_THE_SAME = Reason(
    "it does not depend on any input", "take it out of the outputs: it is always the same"
)

_FLOATS = Reason(
    "it has no quantiser, and no integer datatype",
    "put a quantiser after it, or state its integer datatype (`inputs` in a blueprint, --input-datatype)",
)

_RULES: dict[str, Callable[[_Reading, NodeProto, Any, str], Any]] = {
    "Dropout": _Reading._same,
    **dict.fromkeys(("ArgMax", "TopK"), _Reading._top_k),
}
"""What makes layers of which operator."""


def _no_rule(node: NodeProto) -> NoLayerError:
    """Return why a node that no rule takes has no layer."""
    if is_standard(node, "BatchNormalization"):
        return NoLayerError(
            "its parameters are no constants of float32 that give a finite factor (a variance below 0 has no root)",
            "export it with the parameters that were trained",
        )
    return NoLayerError("no layer of integers computes this operator", OTHER_OPERATORS)
