"""LayerBuilder: layers of integers, each with the proven range of what it gives."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from brainsmith.graph.integer_range import ACCUMULATOR_END, IntegerRange, within
from brainsmith.transforms.integer.clamped_terms import clamped_terms
from brainsmith.transforms.integer.integer_tensor import (
    IntegerTensor,
    adding,
    channels_last,
    dividing,
    multiples,
)
from brainsmith.transforms.integer.layer_graph import QONNX, LayerGraph, LayerNode, LayerTensor
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.signed_steps import SignedSteps, evaluated, tabled_levels, tabled_values
from brainsmith.transforms.integer.sums_of_scales import sum_of
from brainsmith.transforms.integer.threshold_rows import ThresholdRows, quantised
from brainsmith.transforms.lattice.array_kinds import one_of_equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto

    from brainsmith.transforms.integer.scaled_sum import ScaledSum
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole
    from brainsmith.transforms.lattice.staircases import Staircase


class LayerBuilder:
    """Makes layers of integer tensors.

    Attributes:
        graph: The layers so far.
    """

    def __init__(self, graph: LayerGraph) -> None:
        self.graph = graph

    def thresholds(
        self, tensor: IntegerTensor, staircase: Staircase, padded: bool, base: str
    ) -> IntegerTensor:
        """Return a quantiser's levels.

        Args:
            tensor: What the quantiser gets.
            staircase: The quantiser.
            padded: Whether zeros will stand beside the levels: then those of -1 and 1 are integers like all others, and
                else bits.
            base: Of the layer's name.

        Raises:
            NoLayerError: Its channels are those of another axis.
        """
        self.check_channels(staircase, tensor)
        if tensor.is_tabled:
            return self._tabled_levels(tensor, staircase, padded, base)
        return self.levels(tensor, quantised(tensor, staircase), staircase, padded, base)

    def check_channels(self, staircase: Staircase, tensor: IntegerTensor) -> None:
        """Raise a NoLayerError if a quantiser's channels are those of another axis than the tensor's."""
        if staircase.channels > 1 and (
            staircase.axis != tensor.axis or staircase.channels != tensor.channels
        ):
            raise NoLayerError(
                "its scale is neither one number nor one for each channel",
                "quantise with one scale for all values, or with one for each channel",
            )

    def levels(
        self, tensor: IntegerTensor, found: ThresholdRows, staircase: Staircase, padded: bool, base: str
    ) -> IntegerTensor:
        """Return a quantiser's levels, of which the thresholds are found."""
        scale = np.ones(1) if staircase.scale is None else staircase.scale.astype(np.float64).reshape(-1)
        offset = np.zeros(1)
        if staircase.step == 2 and padded:
            found = ThresholdRows(np.repeat(found.rows, 2, axis=1), found.signs, found.low)
        elif staircase.step == 2:
            # -1 and 1 are 2 n - 1 of the bits n.
            low = (found.low + 1) // 2
            scale, offset, found = 2 * scale, -scale, ThresholdRows(found.rows, found.signs, low)
        return self._steps(tensor, found, scale, offset, base)

    def integers(self, tensor: IntegerTensor, base: str) -> IntegerTensor:
        """Return a tensor without pending operators: they become a scale and an offset, or thresholds, or a sum.

        Raises:
            NoLayerError: Thresholds cannot give them.
        """
        terms = self.terms(tensor, base)
        found = terms[0] if len(terms) == 1 else self.sum(terms, base)
        if not isinstance(found, IntegerTensor):
            raise NoLayerError("its results have no common unit", "put a quantiser after it")
        return found

    def terms(self, tensor: IntegerTensor, base: str) -> list[IntegerTensor]:
        """Return tensors without pending operators whose sum a tensor is: itself, or what a clamp of many levels gives.

        Raises:
            NoLayerError: There are none.
        """
        plain = tensor.affine()
        if plain is not None:
            return [plain]
        try:
            steps, units = evaluated(tabled_values, tensor)
        except NoLayerError:
            terms = clamped_terms(self, tensor, base)
            if terms is None:
                raise
            return terms
        return [self._signed(tensor, steps, units, np.zeros(1), f"{base}_table")]

    def _tabled_levels(
        self, tensor: IntegerTensor, staircase: Staircase, padded: bool, base: str
    ) -> IntegerTensor:
        """Return a quantiser's levels of a function that may rise and fall."""
        found = evaluated(tabled_levels, tensor, staircase)
        scale = np.ones(1) if staircase.scale is None else staircase.scale.astype(np.float64).reshape(-1)
        return self._signed(tensor, found, scale, np.zeros(1), base)

    def _signed(
        self, tensor: IntegerTensor, found: SignedSteps, scale: Doubles, offset: Doubles, base: str
    ) -> IntegerTensor:
        """Return what rises by one layer of thresholds and falls by another, added."""
        made = [
            self._steps(tensor, rows, scale, offset, f"{base}{end}")
            for rows, end in ((found.rising, ""), (found.falling, "_falling"))
            if rows is not None
        ]
        if len(made) == 2:
            name = self.graph.add(
                "Add",
                [each.name for each in made],
                f"{base}_sum",
                channels_last(tensor.shape),
                found.range,
            )
            made = [replace(made[0], name=name)]
        return replace(made[0], range=found.range)

    def _steps(
        self, tensor: IntegerTensor, found: ThresholdRows, scale: Doubles, offset: Doubles, base: str
    ) -> IntegerTensor:
        tensor = self.scaled(replace(tensor, links=()), found.signs, f"{base}_turned")
        rows = tensor.in_layer_order(found.rows)
        if (rows.min() == -1 and rows.max() == 0) or (found.low == -1 and rows.shape[1] == 1):
            # FINN gives thresholds of -1 and 0 the datatype BIPOLAR, which has no 0, and its core gives levels of -1 and 0
            # one bit, which their datatype has not: one more, which is never reached, prevents both.
            never = max(tensor.range.ends[1] + 1, 1)
            rows = np.concatenate([rows, np.full((len(rows), 1), never)], axis=1)
        turned = ThresholdRows(found.rows, np.ones(1, np.int64), found.low)
        reached = IntegerRange(*turned.levels(np.stack(np.broadcast_arrays(*tensor.range), axis=-1)).T)
        layout = {2: "NC", 3: "NWC", 4: "NHWC"}[len(tensor.shape)]
        name = self.graph.add(
            "MultiThreshold", [tensor.name], base, channels_last(tensor.shape), reached.holding(found.low),
            constant=rows, domain=QONNX, out_dtype="UINT1", out_scale=1.0, out_bias=float(found.low),
            data_layout=layout,
        )  # fmt: skip
        return IntegerTensor(name, tensor.shape, reached, scale, offset, order=tensor.order)

    def counted_thresholds(self, tensor: IntegerTensor, found: ThresholdRows, base: str) -> IntegerTensor:
        """Return how many thresholds integers reach."""
        return self._steps(tensor, found, np.ones(1), np.zeros(1), base)

    def scaled(self, tensor: IntegerTensor, factor: Whole, base: str) -> IntegerTensor:
        """Return a tensor of which the integers are multiplied by whole numbers, one or one for each channel.

        Its scale stays: the values are others, but for a factor of which the caller divides the scale.
        """
        if (factor == 1).all():
            return tensor
        products, operand = tensor.range.times(factor), tensor.in_layer_order(factor)
        name = self.graph.add(
            "Mul",
            [tensor.name],
            base,
            channels_last(tensor.shape),
            products,
            constant=operand.astype(np.int64),
        )
        return replace(tensor, name=name, range=products)

    def sum(self, tensors: Sequence[IntegerTensor], base: str) -> IntegerTensor | ScaledSum:
        """Return the sum of tensors of one shape, added from the first on."""
        plain = [term for each in tensors for term in self.terms(each, base)]
        channels = max(each.scale.size for each in plain)
        scales = np.stack([np.broadcast_to(each.scale, (channels,)) for each in plain])
        found = [multiples(scales[:, at]) for at in range(channels)]

        def layers(factors: Sequence[Whole]) -> IntegerTensor:
            return self.added(plain, np.stack(factors), base)

        if None in found:
            return sum_of(plain, layers)
        units = [each for each in found if each is not None]
        added = layers([times for _, times in units])
        offset = np.asarray(reduce(np.add, (each.offset for each in plain)))
        return replace(added, scale=np.asarray([unit for unit, _ in units]), offset=offset)

    def added(self, tensors: Sequence[IntegerTensor], factors: Whole, base: str) -> IntegerTensor:
        """Return the sum of integers times whole factors, (channels or 1, tensors)."""
        total, *others = (
            replace(self.scaled(each, factors[:, at], f"{base}_{at}"), scale=np.ones(1), offset=np.zeros(1))
            for at, each in enumerate(tensors)
        )
        for other in others:
            sums = total.range.plus(other.range)
            self.check_sums(sums)
            shape = channels_last(total.shape)
            name = self.graph.add("Add", [total.name, other.name], base, shape, sums)
            total = replace(total, name=name, range=sums)
        return total

    def concatenation(
        self, tensors: Sequence[IntegerTensor], shape: tuple[int, ...], base: str
    ) -> IntegerTensor:
        """Return tensors side by side along their channels; each keeps its scales."""
        plain = [self.integers(each, base) for each in tensors]
        scale, offset, low, high = (
            one_of_equal(np.concatenate(arrays)) for arrays in zip(*map(_channel_arrays, plain), strict=True)
        )
        beside = IntegerRange(low, high)
        names = [each.name for each in plain]
        name = self.graph.add("Concat", names, base, channels_last(shape), beside, axis=-1)
        return IntegerTensor(name, shape, beside, scale, offset)

    def parts(
        self, tensor: IntegerTensor, shapes: Sequence[tuple[int, ...]], base: str
    ) -> list[IntegerTensor]:
        """Return parts of a tensor along its channels, of the given shapes."""
        tensor = self.integers(tensor, base)
        sizes = [shape[tensor.axis] for shape in shapes]
        cuts = np.cumsum(sizes)[:-1]
        arrays = zip(*(np.split(array, cuts) for array in _channel_arrays(tensor)), strict=True)
        names = [self.graph.name(f"{base}_{at}") for at in range(len(shapes))]
        node = helper.make_node("Split", [tensor.name], names, name=self.graph.name(base), axis=-1)
        found = [
            IntegerTensor(name, shape, IntegerRange(low, high), scale, offset)
            for name, shape, own in zip(names, shapes, arrays, strict=True)
            for scale, offset, low, high in [map(one_of_equal, own)]
        ]
        self.graph.put(
            LayerNode(node, np.asarray(sizes, np.int64)),
            *(LayerTensor(channels_last(part.shape), part.range) for part in found),
        )
        return found

    def largest(
        self, tensor: IntegerTensor, count: int, shapes: Sequence[tuple[int, ...]], base: str
    ) -> list[IntegerTensor]:
        """Return the largest integers of each row, as many as asked for, and their places."""
        names = [self.graph.name(f"{base}_{at}") for at in ("values", "places")]
        node = helper.make_node(
            "TopK", [tensor.name], names, name=self.graph.name(base), axis=-1, largest=1, sorted=1
        )
        ends = tensor.range.of_all(), within(0, tensor.channels - 1)
        self.graph.put(
            LayerNode(node, np.asarray([count], np.int64)),
            *(LayerTensor(shape, each) for shape, each in zip(shapes, ends, strict=True)),
        )
        values = IntegerTensor(names[0], shapes[0], ends[0], tensor.scale, tensor.offset)
        return [values, IntegerTensor(names[1], shapes[1], ends[1], np.ones(1), np.zeros(1))]

    def divided(
        self, tensor: IntegerTensor | ScaledSum, node: NodeProto, count: int
    ) -> IntegerTensor | ScaledSum:
        """Return a tensor whose values are still to be divided by a whole number."""
        found = tensor.behind(dividing(node, count))
        assert found is not None
        return found

    def with_offset(
        self, tensor: IntegerTensor | ScaledSum, node: NodeProto, values: Any
    ) -> IntegerTensor | ScaledSum:
        """Return a tensor to which a bias is still to be added."""
        found = tensor.behind(adding(node, values, -3 if len(tensor.shape) == 4 else -1))
        assert found is not None
        return found

    def shifted(self, tensor: IntegerTensor, added: Whole, base: str) -> IntegerTensor:
        """Return a tensor to whose integers whole numbers are added, one or one for each channel; its offset stays."""
        if not added.any():
            return tensor
        sums, operand = tensor.range.plus(added), tensor.in_layer_order(added)
        name = self.graph.add("Add", [tensor.name], base, channels_last(tensor.shape), sums, constant=operand)
        return replace(tensor, name=name, range=sums)

    def check_sums(self, sums: IntegerRange) -> None:
        """Raise a NoLayerError if 48 bits do not hold sums."""
        if sums.magnitude >= ACCUMULATOR_END:
            raise NoLayerError(
                f"its sums reach {sums.magnitude}, and integers of more than 48 bits are not supported",
                "use fewer bits for its weights or for its inputs",
            )


def _channel_arrays(tensor: IntegerTensor) -> list[Any]:
    """Return scale, offset and both ends of the range of each channel."""
    return [tensor.each(array) for array in (tensor.scale, tensor.offset, *tensor.range)]
