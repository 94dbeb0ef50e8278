"""StructureRules: operators that move values, and compute none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.fallback.node_session import open_node
from brainsmith.transforms.graph_view import attribute, is_standard, opset
from brainsmith.transforms.integer.image_layers import alike
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.layer_rules import LayerRules
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.no_layer import NoLayerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.integer.layouts import Value
    from brainsmith.transforms.lattice.array_kinds import Whole


class StructureRules(LayerRules):
    """Finds what such an operator gives."""

    def has(self, node: NodeProto) -> bool:
        """Tell whether it knows an operator."""
        return is_standard(node, *_RULES)

    def results(self, node: NodeProto, inputs: dict[str, Value], base: str) -> list[Value]:
        """Return what an operator gives.

        Args:
            node: It.
            inputs: Its inputs that are not constant.
            base: Of the layers' names.

        Raises:
            NoLayerError: No layer of integers does it.
        """
        found = _RULES[node.op_type](self, node, inputs, base)
        return found if isinstance(found, list) else [found]

    def _only(self, node: NodeProto, inputs: dict[str, Value]) -> Value:
        if node.input[0] not in inputs or len(inputs) != 1:
            raise NoLayerError(
                "its operands are not constant, or its first input is",
                "make all but its first operand constants",
            )
        return inputs[node.input[0]]

    def _constant(self, node: NodeProto, at: int, name: str) -> Any:
        """Return what a node states as an attribute or, in later opsets, as an input; None where it states nothing."""
        stated = attribute(node, name)
        if stated is not None:
            return np.asarray(stated)
        if len(node.input) <= at or not node.input[at]:
            return None
        found = self._view.constant(node.input[at])
        if found is None:
            raise NoLayerError(f"its {name} are not constant", "make them constants")
        return found

    # --- other shapes and orders ---

    def _reshape(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value, shape = self._only(node, inputs), self._view.shape(node.output[0])
        return self._layouts.reshaped(value, shape, base)

    def _transpose(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value = self._only(node, inputs)
        order = attribute(node, "perm", list(range(len(value.shape)))[::-1])
        return self._layouts.transposed(value, order, base)

    def _depth_to_space(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value, by = self._only(node, inputs), attribute(node, "blocksize")
        batch, channels, height, width = value.shape
        results = channels // (by * by)
        if attribute(node, "mode", b"DCR") == b"DCR":
            split, order = (batch, by, by, results, height, width), (0, 3, 4, 1, 5, 2)
        else:
            split, order = (batch, results, by, by, height, width), (0, 1, 4, 2, 5, 3)
        return self._shuffled(value, split, order, self._view.shape(node.output[0]), base)

    def _space_to_depth(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value, by = self._only(node, inputs), attribute(node, "blocksize")
        batch, channels, height, width = value.shape
        split = (batch, channels, height // by, by, width // by, by)
        return self._shuffled(value, split, (0, 3, 5, 1, 2, 4), self._view.shape(node.output[0]), base)

    def _shuffled(
        self, value: Value, split: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...], base: str
    ) -> Value:
        moved = self._layouts.transposed(self._layouts.reshaped(value, split, base), order, base)
        return self._layouts.reshaped(moved, shape, base)

    # --- again ---

    def _expand(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        return self._broadcasts.repeated(self._only(node, inputs), self._view.shape(node.output[0]), base)

    def _tile(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        """Repeat one place as often as asked for; several are taken again and again."""
        value, shape = self._only(node, inputs), self._view.shape(node.output[0])
        single = [new if old == 1 else old for old, new in zip(value.shape, shape, strict=True)]
        value = self._broadcasts.repeated(value, single, base)
        for axis, size in enumerate(shape):
            value = self._taken(value, axis, np.arange(size) % value.shape[axis], f"{base}_{axis}")
        return value

    # --- parts ---

    def _concat(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        if any(name not in inputs for name in node.input):
            raise NoLayerError(
                "one of its parts is constant",
                "leave the constant part out, and add its contribution to the bias after it",
            )
        shape = self._view.shape(node.output[0])
        axis = attribute(node, "axis", 1) % len(shape)
        return self._joined([inputs[name] for name in node.input], axis, shape, base)

    def _joined(self, values: list[Value], axis: int, shape: tuple[int, ...], base: str) -> Value:
        if any(map(_is_one_dimensional, values)) or (len(shape) == 3 and axis == 1 and _differ(values)):
            images = [self._layouts.of_width_one(value, f"{base}_{at}") for at, value in enumerate(values)]
            return self._layouts.reshaped(self._joined(images, axis, (*shape, 1), base), shape, base)
        parts = [self._layouts.settled(value, base, in_order=True) for value in values]
        if axis == parts[0].axis % len(shape):
            return self._build.concatenation(parts, shape, base)
        return self._images.joined(parts, axis, shape, base)

    def _split(self, node: NodeProto, inputs: dict[str, Value], base: str) -> list[Value]:
        value = self._only(node, inputs)
        axis = attribute(node, "axis", 0) % len(value.shape)
        shapes = [self._view.shape(name) for name in node.output]
        if not _is_one_dimensional(value):
            return self._parts(value, axis, shapes, base)
        parts = self._parts(
            self._layouts.of_width_one(value, base), axis, [(*shape, 1) for shape in shapes], base
        )
        return [self._layouts.reshaped(part, shape, base) for part, shape in zip(parts, shapes, strict=True)]

    def _parts(self, value: Value, axis: int, shapes: list[tuple[int, ...]], base: str) -> list[Value]:
        value = self._layouts.settled(value, base, in_order=True)
        if axis == value.axis % len(value.shape):
            return list(self._build.parts(value, shapes, base))
        return list(self._images.parts(value, axis, shapes, base))

    def _slice(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value = self._only(node, inputs)
        starts, ends = self._constant(node, 1, "starts"), self._constant(node, 2, "ends")
        axes, steps = self._constant(node, 3, "axes"), self._constant(node, 4, "steps")
        axes = range(len(starts)) if axes is None else axes.tolist()
        steps = np.ones(len(starts), np.int64) if steps is None else steps
        for axis, start, end, step in zip(axes, starts.tolist(), ends.tolist(), steps.tolist(), strict=True):
            places = np.arange(value.shape[axis])[start:end:step]
            value = self._taken(value, axis % len(value.shape), places, f"{base}_{axis}")
        return value

    def _gather(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value, places = self._only(node, inputs), self._constant(node, 1, "indices")
        axis = attribute(node, "axis", 0) % len(value.shape)
        places = np.where(places < 0, places + value.shape[axis], places)
        found = self._taken(value, axis, places.reshape(-1), base)
        return self._layouts.reshaped(found, self._view.shape(node.output[0]), base)

    def _taken(self, value: Value, axis: int, places: Any, base: str) -> Value:
        """Return the given places along an axis: windows, side by side."""
        if np.array_equal(places, np.arange(value.shape[axis])):
            return value
        if not len(places):
            raise NoLayerError("its result is empty", "remove it from the network")
        if _is_one_dimensional(value):
            found = self._taken(self._layouts.of_width_one(value, base), axis, places, base)
            return self._layouts.reshaped(found, found.shape[:-1], base)
        runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
        settled = self._layouts.settled(value, base, in_order=True)
        size = list(settled.shape)
        step = np.diff(places)
        if len(runs) > 1 and settled.is_image and axis > 1 and (step == step[0]).all() and step[0] > 1:
            return self._images.every(settled, axis, int(places[0]), int(places[-1]) + 1, int(step[0]), base)
        if len(runs) > _MOST_WINDOWS:
            raise NoLayerError(
                f"it selects {len(runs)} separate ranges, more than the {_MOST_WINDOWS} that are supported",
                "select fewer, longer ranges",
            )
        parts = [self._images.window(settled, axis, int(run[0]), len(run), base) for run in runs]
        if len(parts) == 1:
            return parts[0]
        size[axis] = len(places)
        if axis == settled.axis % len(size):
            return self._build.concatenation(parts, tuple(size), base)
        return self._images.joined(parts, axis, tuple(size), base)

    def cropped(self, value: Value, shape: tuple[int, ...], base: str) -> Value:
        """Return the first entries along each axis, as many as a shape says."""
        for axis, size in enumerate(shape):
            value = self._taken(value, axis, np.arange(size), f"{base}_{axis}")
        return value

    # --- images ---

    def _pad(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value = self._only(node, inputs)
        if attribute(node, "mode", b"constant") != b"constant":
            raise NoLayerError(
                "it repeats values of the image; layers pad with one value", "use the mode constant"
            )
        pads, fill = self._constant(node, 1, "pads"), self._constant(node, 2, "value")
        axes = self._constant(node, 3, "axes")
        rank = len(value.shape)
        whole = np.zeros((2, rank), np.int64)
        whole[:, range(rank) if axes is None else axes.reshape(-1)] = pads.reshape(2, -1)
        number = 0.0 if fill is None else float(fill.reshape(-1)[0])
        return self._bordered(value, whole, number, base)

    def _bordered(self, value: Value, pads: Any, number: float, base: str) -> Value:
        for axis in range(len(value.shape)):  # less than nothing is a window
            cut = np.minimum(pads[:, axis], 0)
            if cut.any():
                places = np.arange(-cut[0], value.shape[axis] + cut[1])
                value = self._taken(value, axis, places, f"{base}_{axis}")
        pads = np.maximum(pads, 0)
        if not pads.any():
            return value
        if _is_one_dimensional(value):
            pads = np.pad(pads, ((0, 0), (0, 1)))
            found = self._bordered(self._layouts.of_width_one(value, base), pads, number, base)
            return self._layouts.reshaped(found, found.shape[:-1], base)
        settled = self._layouts.settled(value, base, in_order=True)
        if pads[:, settled.axis].any():
            settled = self._layouts.of_one_scale(settled, base)
        return self._images.bordered(settled, pads, number, base)

    def _resize(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        value = self._only(node, inputs)
        shape, before = self._view.shape(node.output[0]), value.shape
        if len(before) == 3:
            image = self._layouts.reshaped(value, (*before, 1), base)
            found = self._enlarged(node, image, (*shape, 1), base)
            return self._layouts.reshaped(found, shape, base)
        return self._enlarged(node, value, shape, base)

    def _enlarged(self, node: NodeProto, value: Value, shape: tuple[int, ...], base: str) -> Value:
        image = self._layouts.settled(value, base)
        if not image.is_image or image.shape[0] != 1 or image.shape[:2] != shape[:2]:
            raise NoLayerError(
                "it resizes other axes than those of one image's height and width",
                "resize the last two axes of one image",
            )
        places = self._places(node, image.shape, shape)
        if places is None:
            raise NoLayerError(
                "it does more than repeat, or leave out, whole rows and columns", "use the mode nearest"
            )
        times = [1, 1]
        for at, each in enumerate(places):
            by, rest = divmod(shape[2 + at], image.shape[2 + at])
            if not rest and np.array_equal(each, np.arange(image.shape[2 + at]).repeat(by)):
                times[at] = by
        found: Value = self._images.enlarged(image, times, base)
        for at, each in enumerate(places):
            if times[at] == 1:
                found = self._taken(found, 2 + at, each, f"{base}_{at}")
        return found

    def _places(
        self, node: NodeProto, before: tuple[int, ...], after: tuple[int, ...]
    ) -> tuple[Whole, Whole] | None:
        """Return which row, and which column, each one of the result is; None if some are none of the image's.

        The node is tried on the numbers of the pixels, from 1 on, so that a value that it puts in is none of them.
        """
        if attribute(node, "mode", b"nearest") != b"nearest":
            return None
        rank, (height, width) = len(self._view.shape(node.input[0])), before[2:]
        numbers = np.arange(1, height * width + 1, dtype=np.float32).reshape(1, 1, height, width)
        source = np.broadcast_to(numbers, before).reshape(before[:rank]).astype(np.float32)
        feeds: dict[str, Any] = {node.input[0]: source}
        for name in node.input[1:]:
            if name:
                feeds[name] = self._view.constant(name)
        types = {name: value.dtype for name, value in feeds.items()}
        session = open_node(node, opset(self._view.model), types, node.output)
        found = np.asarray(session.run(None, feeds)[0]).reshape(after)[0, 0]
        if not np.isin(found, numbers).all():
            return None
        rows, columns = np.divmod(found.astype(np.int64) - 1, width)
        separate = (rows == rows[:, :1]).all() and (columns == columns[:1]).all()
        return (rows[:, 0], columns[0]) if separate else None


def _is_one_dimensional(value: Value) -> bool:
    return isinstance(value, MovedTensor) and value.is_one_dimensional_image


def _differ(values: Sequence[Value]) -> bool:
    """Tell whether integers have scales or offsets that are not all alike."""
    tensors = [value.base if isinstance(value, MovedTensor) else value for value in values]
    plain = [each.affine() for each in tensors if isinstance(each, IntegerTensor)]
    return any(each is not None and plain[0] is not None and not alike(each, plain[0]) for each in plain)


_MOST_WINDOWS = 16

_RULES: dict[str, Callable[[StructureRules, NodeProto, dict[str, Value], str], Any]] = {
    "Concat": StructureRules._concat,
    "DepthToSpace": StructureRules._depth_to_space,
    "Expand": StructureRules._expand,
    "Flatten": StructureRules._reshape,
    "Gather": StructureRules._gather,
    "Pad": StructureRules._pad,
    "Reshape": StructureRules._reshape,
    "Resize": StructureRules._resize,
    "Slice": StructureRules._slice,
    "SpaceToDepth": StructureRules._space_to_depth,
    "Split": StructureRules._split,
    "Squeeze": StructureRules._reshape,
    "Tile": StructureRules._tile,
    "Transpose": StructureRules._transpose,
    "Unsqueeze": StructureRules._reshape,
    "Upsample": StructureRules._resize,
}
"""What finds the results of which operator."""
