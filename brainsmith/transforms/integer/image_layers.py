"""ImageLayers: windows, borders and repeated pixels of tensors, and tensors side by side along any axis."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from brainsmith.graph.integer_range import within
from brainsmith.transforms.integer.channel_groups import regrouped
from brainsmith.transforms.integer.integer_tensor import (
    ORDERS,
    IntegerTensor,
    channels_last,
    dividing,
    multiples,
)
from brainsmith.transforms.integer.layer_graph import QONNX, LayerNode, LayerTensor
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.padding import with_border, with_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto

    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.lattice.array_kinds import Whole


class ImageLayers:
    """Adds such layers.

    Args:
        build: Where they are added.
    """

    def __init__(self, build: LayerBuilder) -> None:
        self._build = build
        self._graph = build.graph

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
        name = graph.put(LayerNode(node), LayerTensor(channels_last(shape), tensor.range))
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
            "Im2Col", [tensor.name], base, channels_last(shape), tensor.range, domain=QONNX,
            stride=[step if axis == 2 else 1, step if axis == 3 else 1], kernel_size=[1, 1], pad_amount=[0] * 4,
            dilations=[1, 1], depthwise=0, input_shape=f"(1,{height},{width},{channels})",
        )  # fmt: skip
        return replace(tensor, name=name, shape=shape)

    def bordered(self, tensor: IntegerTensor, pads: Whole, number: float, base: str) -> IntegerTensor:
        """Return a tensor with one value around it.

        Args:
            tensor: It.
            pads: Before and after each axis of the network, (2, axes).
            number: The value.
            base: Of the layers' names.

        Raises:
            NoLayerError: No integer of the tensor stands for the value, or it is another one for each channel.
        """
        plain = self._build.integers(tensor, base)
        level = (number - float(plain.offset[0])) / (float(plain.scale[0]) or 1.0)
        if plain.scale.size > 1 or plain.offset.size > 1 or not level.is_integer():
            plain = with_zero(self._build, replace(plain, offset=plain.offset - number), base, number)
            plain, level = replace(plain, offset=plain.offset + number), 0.0
        order = ORDERS[len(tensor.shape)]
        held = plain.range.holding(int(level))
        shape = tuple((np.asarray(plain.shape) + pads.sum(axis=0)).tolist())
        fill = [self._graph.hold(np.asarray(level, np.float32), f"{base}_fill")] if level else []
        name = self._graph.add(
            "Pad", [plain.name, *fill], f"{base}_padded", channels_last(shape), held,
            constant=pads[:, list(order)].reshape(-1),
        )  # fmt: skip
        return replace(plain, name=name, shape=shape, range=held)

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
        name = self._graph.put(LayerNode(node), LayerTensor(channels_last(shape), tensor.range))
        return replace(tensor, name=name, shape=shape)

    def mean(self, tensor: IntegerTensor, node: NodeProto, base: str, divided: bool = True) -> IntegerTensor:
        """Return the sum of all pixels, and for a mean a pending division."""
        tensor = self._build.integers(tensor, base)
        _, channels, height, width = tensor.shape
        count = height * width
        sums = tensor.range.times(count)
        self._build.check_sums(sums)
        name = self._graph.add(
            "ReduceSum", [tensor.name], base, (1, 1, 1, channels), sums, constant=np.asarray([1, 2]), keepdims=1
        )  # fmt: skip
        found = IntegerTensor(name, (1, channels, 1, 1), sums, tensor.scale, tensor.offset * count)
        return replace(found, links=(dividing(node, count),)) if divided else found

    def extreme(
        self, tensor: IntegerTensor, window: dict[str, Any], base: str, sign: int = 1
    ) -> IntegerTensor:
        """Return the greatest value of each window of an image, or the least (-1); pending operators stay pending.

        Padding is never the greatest: it is the least of all integers.
        """
        if window["kernel"] == [1, 1] == window["strides"] and not any(window["pads"]):
            return tensor
        if tensor.is_tabled:
            tensor = self._build.integers(tensor, base)
        way = tensor.direction * sign
        turned = self._build.scaled(tensor, way, f"{base}_turned")
        turned = replace(turned, scale=tensor.scale * way)
        padded = with_border(self._graph, turned, window["pads"], base, turned.range.ends[0])
        ends, shape = turned.range, window["shape"]
        pool = {
            "strides": window["strides"],
            "kernel_shape": window["kernel"],
            "pads": [0, 0, 0, 0],
            "domain": QONNX,
        }
        if window["dilations"] == [1, 1]:
            name = self._graph.add("MaxPoolNHWC", [padded.name], base, channels_last(shape), ends, **pool)
            return replace(turned, name=name, shape=shape)
        name, places = self._taps(padded, window, base)
        taps = prod(window["kernel"])
        pool |= {"strides": [1, taps], "kernel_shape": [1, taps]}
        name = self._graph.add(
            "MaxPoolNHWC", [name], f"{base}_largest", (1, places, 1, shape[1]), ends, **pool
        )
        return replace(turned, name=self._graph.reshape(name, channels_last(shape), ends, base), shape=shape)

    def _taps(self, tensor: IntegerTensor, window: dict[str, Any], base: str) -> tuple[str, int]:
        """Return an image whose rows are the pixels of a window, (1, windows, pixels of one, C), and how many windows."""
        _, channels, height, width = tensor.shape
        size, taps, ends = window["shape"][2:], prod(window["kernel"]), tensor.range
        name = self._graph.add(
            "Im2Col", [tensor.name], f"{base}_windows", (1, *size, taps * channels), ends, domain=QONNX,
            stride=window["strides"], kernel_size=window["kernel"], pad_amount=[0] * 4, dilations=window["dilations"],
            depthwise=0, input_shape=f"(1,{height},{width},{channels})",
        )  # fmt: skip
        rows = (1, prod(size), taps, channels)
        return self._graph.reshape(name, rows, ends, f"{base}_rows"), prod(size)

    def weighted(self, tensor: IntegerTensor, factors: Whole, base: str) -> IntegerTensor:
        """Return an image whose integers are multiplied by a factor of each pixel, (height, width), 1 or more."""
        products = tensor.range.times(within(1, int(factors.max())))
        self._build.check_sums(products)
        name = self._graph.add(
            "Mul", [tensor.name], base, channels_last(tensor.shape), products, constant=factors[None, :, :, None]
        )  # fmt: skip
        return replace(tensor, name=name, range=products)

    def joined(
        self, tensors: Sequence[IntegerTensor], axis: int, shape: tuple[int, ...], base: str
    ) -> IntegerTensor:
        """Return tensors one after the other along an axis that is not the channels'.

        Raises:
            NoLayerError: Their scales and offsets have no common unit.
        """
        parts = self._of_one_unit([self._build.integers(each, base) for each in tensors], base)
        at = ORDERS[len(shape)].index(axis)
        held, names = parts[0].range.holding(*(part.range for part in parts)), []
        for number, part in enumerate(parts):
            placed = channels_last(part.shape)
            flat = (prod(placed[:at]), prod(placed[at:]))
            names.append(self._graph.reshape(part.name, flat, part.range, f"{base}_part_{number}"))
        placed = channels_last(shape)
        flat = (prod(placed[:at]), prod(placed[at:]))
        name = self._graph.add("Concat", names, f"{base}_parts", flat, held, axis=-1)
        name = self._graph.reshape(name, placed, held, base)
        return replace(parts[0], name=name, shape=shape, range=held)

    def greater(self, tensors: Sequence[IntegerTensor], way: int, base: str) -> IntegerTensor:
        """Return the greater of two tensors, element by element, or, the other way (-1), the lesser.

        Raises:
            NoLayerError: Their scales and offsets have no common unit, or one is a flattened image.
        """
        given = [self._build.integers(each, f"{base}_{at}") for at, each in enumerate(tensors)]
        if any(each.order is not None for each in given):
            raise NoLayerError(
                "it compares a flattened image", "compare the images before they are flattened"
            )
        left, right = self._of_one_unit(given, base)
        signs = np.where(left.scale < 0, -way, way)
        left, right = (
            replace(self._build.scaled(each, signs, f"{base}_{at}_turned"), scale=each.scale * signs)
            for at, each in enumerate((left, right))
        )
        found = left.range.greater(right.range)
        name = self._graph.add("Max", [left.name, right.name], base, channels_last(left.shape), found)
        return replace(left, name=name, range=found)

    def _of_one_unit(self, parts: list[IntegerTensor], base: str) -> list[IntegerTensor]:
        """Return tensors with the same scale and offset."""
        first = parts[0]
        if all(alike(part, first) for part in parts):
            return parts
        count = max(array.size for part in parts for array in (part.scale, part.offset))
        given = [
            [np.broadcast_to(a, (count,)) for a in (part.scale, part.offset - first.offset)] for part in parts
        ]
        units, whole = [], []
        for channel in range(count):
            found = multiples(np.asarray([array[channel] for pair in given for array in pair]))
            if found is None:
                raise NoLayerError(
                    "it joins values whose scales, or zero points, have no common unit",
                    "quantise them with one scale before it",
                )
            units.append(found[0])
            whole.append(found[1].reshape(-1, 2))
        times = np.stack(whole, axis=1)  # (parts, channels, factor and summand)
        return [
            replace(
                self._build.shifted(
                    self._build.scaled(part, times[at, :, 0], f"{base}_{at}_scaled"),
                    times[at, :, 1],
                    f"{base}_{at}_shifted",
                ),
                scale=np.asarray(units),
                offset=first.offset,
            )
            for at, part in enumerate(parts)
        ]

    def parts(
        self, tensor: IntegerTensor, axis: int, shapes: Sequence[tuple[int, ...]], base: str
    ) -> list[IntegerTensor]:
        """Return parts of a tensor along an axis that is not the channels'; pending operators stay pending."""
        at, placed = ORDERS[len(tensor.shape)].index(axis), channels_last(tensor.shape)
        ends = tensor.range
        before, behind = prod(placed[:at]), prod(placed[at + 1 :])
        source = self._graph.reshape(tensor.name, (before, prod(placed[at:])), ends, f"{base}_flat")
        sizes = np.asarray([shape[axis] * behind for shape in shapes], np.int64)
        names = [self._graph.name(f"{base}_flat_{number}") for number in range(len(shapes))]
        node = helper.make_node("Split", [source], names, name=self._graph.name(base), axis=-1)
        self._graph.put(LayerNode(node, sizes), *(LayerTensor((before, int(size)), ends) for size in sizes))
        return [
            replace(
                tensor,
                name=self._graph.reshape(name, channels_last(shape), ends, f"{base}_{number}"),
                shape=tuple(shape),
            )
            for number, (name, shape) in enumerate(zip(names, shapes, strict=True))
        ]


def alike(left: IntegerTensor, right: IntegerTensor) -> bool:
    """Tell whether two tensors have the same scales and offsets."""
    return np.array_equal(left.scale, right.scale) and np.array_equal(left.offset, right.offset)
