"""ImageLayers: windows, borders and repeated pixels of tensors, and tensors side by side along any axis."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from brainsmith.transforms.integer.channel_groups import regrouped
from brainsmith.transforms.integer.integer_tensor import IntegerTensor, multiples
from brainsmith.transforms.integer.layer_graph import QONNX, LayerNode, LayerTensor
from brainsmith.transforms.integer.moved_tensor import ORDERS
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.padding import with_border

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.layer_builder import LayerBuilder


class ImageLayers:
    """Adds such layers.

    Args:
        build: Where they are added.
    """

    def __init__(self, build: LayerBuilder) -> None:
        self._build = build
        self._graph = build.graph

    def _placed(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape[axis] for axis in ORDERS[len(shape)])

    def _reshaped(self, name: str, shape: Sequence[int], ends: Any, base: str) -> str:
        to = np.asarray(shape, np.int64)
        return self._graph.add("Reshape", [name], base, shape, ends, constant=to)

    def window(self, tensor: IntegerTensor, axis: int, start: int, size: int, base: str) -> IntegerTensor:
        """Return a window along an axis of the network; pending operators stay pending."""
        shape = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
        if axis == tensor.axis % len(shape):
            tensor = regrouped(tensor, np.arange(start, start + size), tensor.axis)
        graph, at = self._graph, ORDERS[len(shape)].index(axis)
        limits = [
            graph.hold(np.asarray([each], np.int64), f"{base}_{what}")
            for what, each in (("start", start), ("end", start + size), ("axis", at))
        ]
        node = helper.make_node(
            "Slice", [tensor.name, *limits], [graph.name(f"{base}_window")], name=graph.name(base)
        )
        name = graph.put(LayerNode(node), LayerTensor(self._placed(shape), (tensor.low, tensor.high)))
        return replace(tensor, name=name, shape=shape)

    def every(
        self, tensor: IntegerTensor, axis: int, start: int, end: int, step: int, base: str
    ) -> IntegerTensor:
        """Return every so manieth row or column of an image: windows of one pixel with a stride."""
        if start or end < tensor.shape[axis]:
            tensor = self.window(tensor, axis, start, end - start, base)
        count = -(-(end - start) // step)
        shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :])
        _, channels, height, width = tensor.shape
        name = self._graph.add(
            "Im2Col", [tensor.name], base, self._placed(shape), (tensor.low, tensor.high), domain=QONNX,
            stride=[step if axis == 2 else 1, step if axis == 3 else 1], kernel_size=[1, 1], pad_amount=[0] * 4,
            dilations=[1, 1], depthwise=0, input_shape=f"(1,{height},{width},{channels})",
        )  # fmt: skip
        return replace(tensor, name=name, shape=shape)

    def bordered(self, tensor: IntegerTensor, pads: Sequence[int], number: float, base: str) -> IntegerTensor:
        """Return an image with one value around it.

        Raises:
            NoLayerError: No integer of the image stands for the value.
        """
        plain = self._build.integers(tensor, base)
        plain = self._build.with_zero(replace(plain, offset=plain.offset - number), base, number)
        found = with_border(self._graph, plain, pads, base)
        return replace(found, offset=found.offset + number)

    def enlarged(self, tensor: IntegerTensor, times: Sequence[int], base: str) -> IntegerTensor:
        """Return an image whose rows and columns are repeated; pending operators stay pending."""
        if list(times) == [1, 1]:
            return tensor
        batch, channels, height, width = tensor.shape
        shape = (batch, channels, height * times[0], width * times[1])
        scales = self._graph.hold(np.asarray([1, *times, 1], np.float32), f"{base}_scales")
        node = helper.make_node(
            "Resize", [tensor.name, "", scales], [self._graph.name(f"{base}_enlarged")], name=self._graph.name(base),
            mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor",
        )  # fmt: skip
        name = self._graph.put(LayerNode(node), LayerTensor(self._placed(shape), (tensor.low, tensor.high)))
        return replace(tensor, name=name, shape=shape)

    def joined(
        self, tensors: Sequence[IntegerTensor], axis: int, shape: tuple[int, ...], base: str
    ) -> IntegerTensor:
        """Return tensors one behind the other along an axis that is not the channels'.

        Raises:
            NoLayerError: Their scales and offsets have no unit in common.
        """
        parts = self._of_one_unit([self._build.integers(each, base) for each in tensors], base)
        at = ORDERS[len(shape)].index(axis)
        low = np.min(np.stack(np.broadcast_arrays(*(part.low for part in parts))), axis=0)
        high = np.max(np.stack(np.broadcast_arrays(*(part.high for part in parts))), axis=0)
        names = []
        for number, part in enumerate(parts):
            placed = self._placed(part.shape)
            flat = (prod(placed[:at]), prod(placed[at:]))
            names.append(self._reshaped(part.name, flat, (part.low, part.high), f"{base}_part_{number}"))
        placed = self._placed(shape)
        flat = (prod(placed[:at]), prod(placed[at:]))
        name = self._graph.add("Concat", names, f"{base}_parts", flat, (low, high), axis=-1)
        name = self._reshaped(name, placed, (low, high), base)
        return replace(parts[0], name=name, shape=shape, low=low, high=high)

    def _of_one_unit(self, parts: list[IntegerTensor], base: str) -> list[IntegerTensor]:
        """Return tensors with the same scale and offset."""
        first = parts[0]
        if all(_alike(part, first) for part in parts):
            return parts
        if any(part.scale.size > 1 or part.offset.size > 1 for part in parts):
            raise NoLayerError("it joins channels with different scales or offsets")
        apart = [part.offset - first.offset for part in parts]
        found = multiples(np.concatenate([*(part.scale for part in parts), *apart]))
        if found is None:
            raise NoLayerError("it joins values whose scales, or zero points, have no unit in common")
        unit, whole = found
        times, added = whole.reshape(2, -1)
        return [
            replace(
                self._build.shifted(
                    self._build.scaled(part, times[[at]], f"{base}_{at}_scaled"),
                    added[[at]],
                    f"{base}_{at}_shifted",
                ),
                scale=np.asarray([unit]),
                offset=first.offset,
            )
            for at, part in enumerate(parts)
        ]

    def parts(
        self, tensor: IntegerTensor, axis: int, shapes: Sequence[tuple[int, ...]], base: str
    ) -> list[IntegerTensor]:
        """Return parts of a tensor along an axis that is not the channels'; pending operators stay pending."""
        at, placed = ORDERS[len(tensor.shape)].index(axis), self._placed(tensor.shape)
        ends = (tensor.low, tensor.high)
        before, behind = prod(placed[:at]), prod(placed[at + 1 :])
        source = self._reshaped(tensor.name, (before, prod(placed[at:])), ends, f"{base}_flat")
        sizes = np.asarray([shape[axis] * behind for shape in shapes], np.int64)
        names = [self._graph.name(f"{base}_flat_{number}") for number in range(len(shapes))]
        node = helper.make_node("Split", [source], names, name=self._graph.name(base), axis=-1)
        self._graph.put(LayerNode(node, sizes), *(LayerTensor((before, int(size)), ends) for size in sizes))
        return [
            replace(
                tensor,
                name=self._reshaped(name, self._placed(shape), ends, f"{base}_{number}"),
                shape=tuple(shape),
            )
            for number, (name, shape) in enumerate(zip(names, shapes, strict=True))
        ]


def _alike(left: IntegerTensor, right: IntegerTensor) -> bool:
    return np.array_equal(left.scale, right.scale) and np.array_equal(left.offset, right.offset)
