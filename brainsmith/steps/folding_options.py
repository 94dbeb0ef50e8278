"""The choices that a network's layers leave open: their foldings, what each takes, and what stands between neighbours."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.figures import plural
from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.fitting.options import LayerOptions, Network, WidthLink
from brainsmith.rtl.fitting.pipeline import BeatStream, LayerEnd, Pipeline
from brainsmith.steps.backend_choice import other_backends
from brainsmith.steps.folding_needs import cycles_of_foldings, lanes_of, needs_of_foldings
from brainsmith.steps.folding_timings import FoldingTimings
from brainsmith.steps.hardware_nodes import backend_type, has_backend, is_layer
from brainsmith.steps.layers_alone import synthesised_alone
from brainsmith.steps.legal_foldings import WIRES, FoldingSettings, legal_foldings, set_all
from brainsmith.steps.stated_parallelism import window_in_front
from brainsmith.steps.stream_costs import StreamCosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    Widths = tuple[tuple[int, int], tuple[int, int]]
    """Values and bits of a beat that is given, and of one that is taken."""

    End = tuple[int, Any, Any]
    """A stream at a layer: its place among the node's inputs or outputs, and values and bits of a beat, (options,)."""

_NAMES = (
    "ipgen_path",
    "ip_path",
    "code_gen_dir_ipgen",
    "gen_top_module",
    "executable_path",
    "cycles_estimate",
)
"""Attributes that say nothing of a layer's circuit."""


class Folding(NamedTuple):
    """What one option of a layer is.

    Attributes:
        backend: The qualified name of another backend than the layer has; empty if it keeps its own.
        settings: Attributes by the place of the node.
    """

    backend: str
    settings: tuple[tuple[int, dict[str, Any]], ...]


class StreamEnd(NamedTuple):
    """One end of a stream at a layer, in each of its options.

    Attributes:
        tensor: Its name.
        values: In a beat, (options,).
        bits: Of a beat, (options,).
    """

    tensor: str
    values: Any
    bits: Any


@dataclass(frozen=True)
class _Measured:
    """What the options of a layer are; equal layers share it."""

    backends: list[str]
    foldings: list[FoldingSettings]
    cycles: Any
    needs: Any
    takes: list[End]
    gives: list[End]
    inside: list[Widths]
    timings: Any


class Asked(NamedTuple):
    """What the user asked for of layers without a model.

    Attributes:
        how: How to ask that RTL layers are counted by synthesis.
        instead: What the user can do else.
        synthesise: Whether each folding of an RTL layer is synthesised, alone.
    """

    how: str
    instead: str = ""
    synthesise: bool = False


FOLD = Asked("args: {fold: {synthesise: true}}", "or state a rate in place of `fit`: target: {fps: ...}")
FRONT = Asked("brainsmith front --synthesise")


class FoldingOptions(NamedTuple):
    """What can be chosen of a model.

    Attributes:
        network: Its layers and links.
        layers_alone: The same, without FIFOs: what the step `estimate` counts.
    """

    network: Network
    layers_alone: Network


def options_of(model: ModelWrapper, cfg: Any, weights: int, asked: Asked = FOLD) -> FoldingOptions:
    """Return the layers of a specialised model with all foldings that they may have.

    A layer that reads a window channel by channel is one with that window.

    Args:
        model: Specialised, its bit widths minimised; not changed.
        cfg: Says the part, and which backends are allowed.
        weights: The widest weight stream of one processing element, bits.
        asked: What is done with layers without a model.

    Raises:
        BuildError: Layers have no model of what they take; the message names them. Or Yosys refuses one of them.
        ToolError: A layer is to be synthesised, and pyosys is missing.
    """
    from qonnx.core.modelwrapper import ModelWrapper

    reader = _OptionReader(ModelWrapper(model.model, make_deepcopy=True), cfg, weights, asked)
    return FoldingOptions(reader.network(fifos=True), reader.network(fifos=False))


class _OptionReader:
    """Reads a model, which it changes while it tries foldings."""

    def __init__(self, model: ModelWrapper, cfg: Any, weights: int, asked: Asked) -> None:
        self._model, self._cfg, self._weights, self._asked = model, cfg, weights, asked
        self._part = cfg._resolve_fpga_part()
        clock_ns = cfg.synth_clk_period_ns
        self._synthesis = (
            partial(synthesised_alone, part=self._part, clock_ns=clock_ns) if asked.synthesise else None
        )
        self._known: dict[str, _Measured] = {}
        self._costs = StreamCosts(cfg)
        self._timings = FoldingTimings(model, self._part, cfg.synth_clk_period_ns)
        self._groups = list(self._folded_together())
        self._measured = [self._measured_once(*group) for group in self._groups]
        self._refuse_without_model()

    def network(self, *, fifos: bool) -> Network:
        """Return layers and links, with their FIFOs or without."""
        self._costs.with_fifos = fifos
        layers = [self._layer(*each) for each in zip(self._groups, self._measured, strict=True)]
        takes, gives = self._ends()
        links: list[WidthLink] = []
        streams: list[BeatStream] = []
        for target, taken in takes:
            if taken.tensor in gives:
                source, given = gives[taken.tensor]
                streams.append(BeatStream(source, target, len(links)))
                links.append(self._link(source.layer, given, target.layer, taken))
            else:
                streams.append(BeatStream(None, target))
                layers[target.layer].needs[:] += self._costs.fifos(taken.bits)
        read = {taken.tensor for _, taken in takes}
        for source, given in gives.values():
            if given.tensor not in read:
                streams.append(BeatStream(source, None))
                layers[source.layer].needs[:] += self._costs.fifos(given.bits)
        return Network(tuple(layers), tuple(links), Pipeline(tuple(streams), self._timings.stages))

    def _ends(self) -> tuple[list[tuple[LayerEnd, StreamEnd]], dict[str, tuple[LayerEnd, StreamEnd]]]:
        """Return the streams that layers take, and those that they give, by tensor."""
        takes, gives = [], {}
        for place, (places, found) in enumerate(zip(self._groups, self._measured, strict=True)):
            first, last = self._model.graph.node[places[0]], self._model.graph.node[places[-1]]
            for at, (index, *beats) in enumerate(found.takes):
                takes.append((LayerEnd(place, at), StreamEnd(first.input[index], *beats)))
            for at, (index, *beats) in enumerate(found.gives):
                gives[last.output[index]] = LayerEnd(place, at), StreamEnd(last.output[index], *beats)
        return takes, gives

    def _folded_together(self) -> Iterator[tuple[int, ...]]:
        """Yield the places of layers that are folded together, the window first, in the order of the last ones."""
        nodes = list(self._model.graph.node)
        windows = {}
        for at, node in enumerate(nodes):
            if not is_layer(node):
                continue
            if not has_backend(node):
                raise BuildError(
                    f"layer {node.name!r} ({node.op_type}) has no backend, so its folding cannot be chosen"
                )
            window = window_in_front(self._model, node)
            if window is not None:
                place = next(
                    place for place, other in enumerate(nodes) if other.name == window.onnx_node.name
                )
                if len(self._model.find_consumers(window.onnx_node.output[0])) == 1:
                    windows[at] = place
        taken = set(windows.values())
        for at, node in enumerate(nodes):
            if is_layer(node) and at not in taken:
                yield (windows[at], at) if at in windows else (at,)

    def _measured_once(self, *places: int) -> _Measured:
        nodes = [self._model.graph.node[at] for at in places]
        key = "|".join(self._described(node) for node in nodes)
        if key not in self._known:
            self._known[key] = self._measure(nodes)
        return self._known[key]

    def _described(self, node: NodeProto) -> str:
        """Return what a layer's options depend on, as text."""
        attributes = sorted(str(one) for one in node.attribute if one.name not in _NAMES)
        shapes = [str(self._model.get_tensor_shape(name)) for name in (*node.input, *node.output)]
        constants = (self._model.get_initializer(name) for name in node.input)
        digests = [hashlib.sha256(each.tobytes()).hexdigest() for each in constants if each is not None]
        return "\n".join((node.domain, node.op_type, *attributes, *shapes, *digests))

    def _measure(self, nodes: Sequence[NodeProto]) -> _Measured:
        """Try all foldings of a layer, with its own backend and with others that may be the layer."""
        from qonnx.custom_op.registry import getCustomOp

        window = getCustomOp(nodes[0]) if len(nodes) > 1 else None
        forms = [("", nodes[-1]), *other_backends(self._model, self._cfg, nodes[-1])]
        parts = [self._measure_form(name, getCustomOp(node), window) for name, node in forms]
        return _Measured(
            backends=[name for part in parts for name in part.backends],
            foldings=[one for part in parts for one in part.foldings],
            cycles=np.concatenate([part.cycles for part in parts]),
            needs=np.concatenate([part.needs for part in parts]),
            takes=_joined([part.takes for part in parts]),
            gives=_joined([part.gives for part in parts]),
            inside=[one for part in parts for one in part.inside],
            timings=np.concatenate([part.timings for part in parts]),
        )

    def _measure_form(self, backend: str, layer: Any, window: Any) -> _Measured:
        foldings = legal_foldings(layer, window, self._weights)
        own = [one.own for one in foldings]
        needs = needs_of_foldings(layer, own, self._part, self._model, self._synthesis)
        without = not (needs[:, RESOURCES.index("lut")] > 0).all()
        cycles = cycles_of_foldings(layer, own)
        front = layer
        if window is not None:
            beside, front = [one.window for one in foldings], window
            more = needs_of_foldings(window, beside, self._part, self._model, self._synthesis)
            without |= not (more[:, RESOURCES.index("lut")] > 0).all()
            needs, cycles = needs + more, np.maximum(cycles, cycles_of_foldings(window, beside))
        if without:
            needs[:, RESOURCES.index("lut")] = 0
        takes, gives = _ends(layer, front, foldings)
        inside = [] if window is None else _between(window, layer, foldings)
        timings = self._timings.numbers(layer, window, foldings)
        return _Measured([backend] * len(foldings), foldings, cycles, needs, takes, gives, inside, timings)

    def _layer(self, places: tuple[int, ...], found: _Measured) -> LayerOptions:
        options = [
            Folding(name, tuple(zip(places, (one.window, one.own)[-len(places) :], strict=True)))
            for name, one in zip(found.backends, found.foldings, strict=True)
        ]
        needs = found.needs.copy()
        if found.inside:
            tensor = self._model.graph.node[places[0]].output[0]
            kind, shape = self._model.get_tensor_datatype(tensor), self._model.get_tensor_shape(tensor)
            for at, (given, taken) in enumerate(found.inside):
                needs[at] += self._costs.between([given], [taken], kind, shape)[0, 0]
        name = self._model.graph.node[places[-1]].name
        return LayerOptions(name, found.cycles, needs, options, found.timings)

    def _link(self, source: int, given: StreamEnd, target: int, taken: StreamEnd) -> WidthLink:
        """Return a link, with what stands between any two of its widths."""
        widths = [np.unique(np.stack([end.values, end.bits]), axis=1) for end in (given, taken)]
        rows, columns = ([(int(value), int(bits)) for value, bits in each.T] for each in widths)
        datatype = self._model.get_tensor_datatype(given.tensor)
        shape = self._model.get_tensor_shape(given.tensor)
        needs = self._costs.between(rows, columns, datatype, shape)
        places = [
            np.searchsorted(each[0], end.values) for each, end in zip(widths, (given, taken), strict=True)
        ]
        return WidthLink(source, target, places[0], places[1], needs)

    def _refuse_without_model(self) -> None:
        lut = RESOURCES.index("lut")
        unknown = [
            self._model.graph.node[places[-1]]
            for places, found in zip(self._groups, self._measured, strict=True)
            if not found.needs[:, lut].all() and self._model.graph.node[places[-1]].op_type != WIRES
        ]
        if unknown:
            raise BuildError(without_model(self._part, unknown, self._asked))


def without_model(part: str, layers: Sequence[NodeProto], asked: Asked = FOLD) -> str:
    """Return the message of layers of which nobody knows what they take."""
    named = ", ".join(f"{node.name} ({node.op_type})" for node in layers)
    kinds = {backend_type(node) for node in layers}
    ways = []
    if "rtl" in kinds:
        ways.append(f"have RTL layers counted by synthesis: {asked.how}")
    if "hls" in kinds:
        ways.append("give kernels an RTL backend in place of HLS (`kernels` in the blueprint)")
    if asked.instead:
        ways.append(asked.instead)
    return "\n  ".join(
        [
            f"foldings cannot be fitted to {part}: there is no model of what {plural(len(layers), 'layer')} "
            f"take{'s' if len(layers) == 1 else ''}: {named}",
            *ways,
        ]
    )


def _ends(layer: Any, front: Any, foldings: Sequence[FoldingSettings]) -> tuple[list[End], list[End]]:
    """Return the streams that a layer takes and gives: of each its place, and values and bits of a beat by folding."""
    fed = [at for at in range(len(front.onnx_node.input)) if _is_stream(front, at)]
    taken: list[list[tuple[int, int]]] = [[] for _ in fed]
    given: list[list[tuple[int, int]]] = [[] for _ in layer.onnx_node.output]
    known: dict[tuple[Any, ...], tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for one in foldings:
        key = (*lanes_of(one.own), *lanes_of(one.window))
        if key not in known:
            set_all(layer, one.own)
            set_all(front, one.own if front is layer else one.window)
            known[key] = (
                [
                    (int(front.get_folded_input_shape(at)[-1]), int(front.get_instream_width(at)))
                    for at in fed
                ],
                [
                    (int(layer.get_folded_output_shape(at)[-1]), int(layer.get_outstream_width(at)))
                    for at in range(len(given))
                ],
            )
        for widths, width in zip((*taken, *given), (*known[key][0], *known[key][1]), strict=True):
            widths.append(width)
    return _by_place(fed, taken), _by_place(range(len(given)), given)


def _between(window: Any, layer: Any, foldings: Sequence[FoldingSettings]) -> list[Widths]:
    """Return, of each folding, values and bits of a beat that a window gives, and of one that the layer behind it takes."""
    found = []
    for one in foldings:
        set_all(window, one.window)
        set_all(layer, one.own)
        given = int(window.get_folded_output_shape()[-1]), int(window.get_outstream_width())
        found.append((given, (int(layer.get_folded_input_shape()[-1]), int(layer.get_instream_width()))))
    return found


def _by_place(places: Iterable[int], widths: Iterable[list[tuple[int, int]]]) -> list[End]:
    return [(at, *np.array(each).T) for at, each in zip(places, widths, strict=True)]


def _is_stream(layer: Any, at: int) -> bool:
    """Tell whether an input is a stream and no constant: backends of this project say so, of FINN's the first is."""
    return at in layer.fed_inputs() if hasattr(layer, "fed_inputs") else at == 0


def _joined(parts: Sequence[list[End]]) -> list[End]:
    """Return the ends of all options, from those of each backend."""
    return [
        (ends[0][0], np.concatenate([end[1] for end in ends]), np.concatenate([end[2] for end in ends]))
        for ends in zip(*parts, strict=True)
    ]
