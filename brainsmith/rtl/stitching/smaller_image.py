"""Give the layers of a model a smaller image: the same layers, weights, thresholds and folding, with fewer pixels.

For example, of MobileNetV1 for 224 x 224 the layers take 32 x 32 at least: there the last of five windows with stride 2
gives one pixel. Windows, padding and sums follow the image; all else of a layer stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    Shape = tuple[int, ...]
    Attributes = dict[str, Any]

_SUM_TYPE = "sumDataType"
"""Of a sum over an image: its datatype, where that is not the smallest that holds all sums."""


def smallest_image(model: ModelWrapper) -> tuple[ModelWrapper, tuple[int, int]]:
    """Return a model for the smallest image that all of its layers take, and the height and width of that.

    Each axis is tried by itself. A window that leaves out a rest of its input leaves out the same rest, so that what a
    layer does at the end of a row stays what it is.

    Args:
        model: Of hardware layers, images in NHWC; not changed.

    Raises:
        BuildError: The input is no image, or a layer takes no smaller one.
    """
    sizes = image_of(model)
    found, reasons = list(sizes), []
    for axis, size in enumerate(sizes):
        for smaller in range(1, size):
            tried = (smaller, sizes[1]) if axis == 0 else (sizes[0], smaller)
            try:
                _resized(model, tried)
            except _RefusalError as refusal:
                reasons.append(refusal)
            else:
                found[axis] = smaller
                break
    if tuple(found) == sizes:
        why = max(reversed(reasons), key=lambda refusal: refusal.at, default=None)
        raise BuildError(f"no layer of the circuit takes a smaller image{f': {why}' if why else ''}")
    try:
        return _resized(model, (found[0], found[1])), (found[0], found[1])
    except _RefusalError as refusal:  # both axes together
        raise BuildError(f"the circuit takes no smaller image: {refusal}") from refusal


def image_of(model: ModelWrapper) -> tuple[int, int]:
    """Return the height and width of a model's input.

    Raises:
        BuildError: It has several inputs, or one that is no image (1, height, width, channels).
    """
    shapes = [tuple(model.get_tensor_shape(value.name)) for value in input_values(model.graph)]
    if len(shapes) != 1 or len(shapes[0]) != 4 or shapes[0][0] != 1:
        listed = ", ".join(str(shape) for shape in shapes)
        raise BuildError(f"there is no smaller image: the circuit does not take one image, but {listed}")
    return shapes[0][1], shapes[0][2]


class _RefusalError(Exception):
    """A layer does not take a size.

    Attributes:
        at: Which of the layers, in the order of the model.
    """

    at = 0


def _resized(model: ModelWrapper, size: tuple[int, int]) -> ModelWrapper:
    """Return the model for images of a size.

    Raises:
        _RefusalError: A layer does not take what reaches it.
    """
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    attributes, shapes = _follow(model, size)
    copy = ModelWrapper(model.model, make_deepcopy=True)
    for tensor, shape in shapes.items():
        copy.set_tensor_shape(tensor, list(shape))
    for node in copy.graph.node:
        layer = getCustomOp(node)
        for name, value in attributes.get(node.name, {}).items():
            layer.set_nodeattr(name, value)
    return copy


def _follow(model: ModelWrapper, size: tuple[int, int]) -> tuple[dict[str, Attributes], dict[str, Shape]]:
    """Follow a size through all layers; return their attributes that change, and the shapes of all tensors."""
    from qonnx.custom_op.registry import getCustomOp

    (given,) = (value.name for value in input_values(model.graph))
    shapes: dict[str, Shape] = {given: (1, *size, int(model.get_tensor_shape(given)[3]))}
    attributes: dict[str, Attributes] = {}
    for at, node in enumerate(model.graph.node):
        layer = getCustomOp(type(node).FromString(node.SerializeToString()))
        try:
            changed = _changed(layer, model, shapes)
            for name, value in changed.items():
                layer.set_nodeattr(name, value)
            shapes |= _outputs(layer, getCustomOp(node), model)
        except _RefusalError as refusal:
            refused = _RefusalError(f"{node.name} ({node.op_type}) {refusal}")
            refused.at = at
            raise refused from refusal
        if changed:
            attributes[node.name] = changed
    return attributes, shapes


def _changed(layer: Any, model: ModelWrapper, shapes: Mapping[str, Shape]) -> Attributes:
    """Return the attributes with which a layer takes new shapes of its inputs."""
    node = layer.onnx_node
    fed = [(at, name) for at, name in enumerate(node.input) if name in shapes]
    before = [tuple(map(int, layer.get_normal_input_shape(at))) for at, _ in fed]
    after = [
        _as_taken(shapes[name], tuple(model.get_tensor_shape(name)), taken)
        for (_, name), taken in zip(fed, before, strict=True)
    ]
    if before == after:
        return {}
    rule = next((rule for mark, rule in _RULES.items() if mark in layer.get_nodeattr_types()), None)
    if rule is None:
        raise _RefusalError("is not known to be the same for images of another size")
    found = rule(_InputChange(layer, before, after))
    for name, value in found.items():
        layer.set_nodeattr(name, value)
    for (at, _), shape in zip(fed, after, strict=True):
        if tuple(map(int, layer.get_normal_input_shape(at))) != shape:
            raise _RefusalError(f"does not take {_text(shape)} in place of {_text(before[0])}")
    return found


def _as_taken(new: Shape, old: Shape, taken: Shape) -> Shape:
    """Return the shape in which a layer takes a tensor: it may take (1, 1, 1, 8) as (1, 8)."""
    if new == old:
        return taken
    if taken == old:
        return new
    raise _RefusalError(f"takes {_text(old)} as {_text(taken)}, one row of values, whose number would change")


def _outputs(layer: Any, old: Any, model: ModelWrapper) -> dict[str, Shape]:
    """Return the shapes of what a layer gives."""
    found = {}
    for at, name in enumerate(layer.onnx_node.output):
        given, before = (tuple(map(int, one.get_normal_output_shape(at))) for one in (layer, old))
        shape = tuple(model.get_tensor_shape(name))
        if given != before and shape != before:
            raise _RefusalError(f"gives {_text(before)} as {_text(shape)}, whose values would differ")
        if min(given) < 1:
            raise _RefusalError(f"has an empty result for {_text(given)}")
        found[name] = shape if given == before else given
    return found


def _text(shape: Shape) -> str:
    return " x ".join(map(str, shape))


@dataclass(frozen=True)
class _InputChange:
    """A layer whose inputs change.

    Attributes:
        layer: QONNX's instance of the node.
        before: Shapes of its inputs that are no constants.
        after: The new ones.
    """

    layer: Any
    before: Sequence[Shape]
    after: Sequence[Shape]

    @property
    def image(self) -> list[int]:
        """The new height and width."""
        return list(self.after[0][1:3])

    def get(self, name: str) -> Any:
        """Return an attribute as it is."""
        value = self.layer.get_nodeattr(name)
        return value if isinstance(value, int | str) else [int(each) for each in value]


def _window(change: _InputChange) -> Attributes:
    """A sliding window: as much is left over at the end of each axis as before."""
    given = []
    for axis, size in enumerate(change.image):
        kernel, stride, dilation = (
            change.get(name)[axis] for name in ("ConvKernelDim", "Stride", "Dilation")
        )
        covered = (kernel - 1) * dilation + 1
        if size < covered:
            raise _RefusalError(f"takes windows of {covered}, and gets {size}")
        if (size - covered) % stride != (change.get("IFMDim")[axis] - covered) % stride:
            raise _RefusalError(
                f"has stride {stride}, and would leave out another part of {size} than of its image"
            )
        given.append((size - covered) // stride + 1)
    return {"IFMDim": change.image, "OFMDim": given}


def _enlarged(change: _InputChange) -> Attributes:
    """An upsampler keeps its factors."""
    (high, wide), grown = (
        change.image,
        [change.get("HO") // change.get("HI"), change.get("WO") // change.get("WI")],
    )
    return {"HI": high, "WI": wide, "HO": high * grown[0], "WO": wide * grown[1]}


def _converted(change: _InputChange) -> Attributes:
    """A width converter, if it does not change the shape as well."""
    if change.get("inShape") != change.get("outShape"):
        raise _RefusalError(
            f"makes one row of values of {_text(change.before[0])}, whose number would change"
        )
    return {"inShape": list(change.after[0]), "outShape": list(change.after[0])}


def _combined(change: _InputChange) -> Attributes:
    """Two streams, or one with a constant for each channel."""
    streams = iter(change.after)
    sides = {}
    for side in ("lhs", "rhs"):
        stored = change.get(f"{side}_shape")
        if change.get(f"{side}_style") == "input":
            sides[f"{side}_shape"] = list(next(streams))
        elif any(size != 1 for size in stored[:-1]):
            raise _RefusalError("has a constant for each pixel")
    if len({tuple(shape) for shape in sides.values()}) > 1:
        raise _RefusalError(f"joins {' and '.join(_text(shape) for shape in change.after)}")
    return {**sides, "out_shape": next(iter(sides.values()))}


def _rows(change: _InputChange) -> Attributes:
    """A layer that treats each pixel by itself, or sums all of them up."""
    if any(shape[:-1] != change.after[0][:-1] for shape in change.after):
        raise _RefusalError(f"joins {' and '.join(_text(shape) for shape in change.after)}")
    found: Attributes = {"numInputVectors": list(change.after[0][:-1])}
    if _SUM_TYPE in change.layer.get_nodeattr_types():  # what follows takes values of this width
        found[_SUM_TYPE] = change.layer.get_output_datatype().name
    return found


def _moved(change: _InputChange) -> Attributes:
    """Padding or a cut of an image, whose rows may be read in groups, or another order of its axes."""
    kinds, shape, new = change.layer.get_nodeattr_types(), change.before[0], change.after[0]
    known = ({"perm", "transpose_in_shape"}, {"starts", "sizes"}, {"before", "after"})
    if "loop_coeffs" in kinds or not any(names <= set(kinds) for names in known):
        raise _RefusalError("rearranges values by a stated shape")
    if "perm" in kinds:
        order = change.get("perm")
        if change.get("transpose_in_shape") != list(shape) or change.get("out_shape") != [
            shape[at] for at in order
        ]:
            raise _RefusalError("rearranges values by a stated shape")
        return {
            "in_shape": list(new),
            "transpose_in_shape": list(new),
            "out_shape": [new[at] for at in order],
        }
    stated = change.get("within_shape") if "within_shape" in kinds else []
    groups = _groups(shape, stated or list(shape))
    within = [size for group, total in zip(groups, new, strict=True) for size in _regrouped(group, total)]
    if "sizes" in kinds:
        before = [size for group in groups for size in group]
        given = [cut - old + now for cut, old, now in zip(change.get("sizes"), before, within, strict=True)]
        if min(given) < 1:
            raise _RefusalError(f"cuts all of {_text(new)}")
        more: Attributes = {"sizes": given}
    else:
        borders = zip(change.get("before"), within, change.get("after"), strict=True)
        given, more = [sum(border) for border in borders], {}
    out, start = [], 0
    for group in groups:
        out.append(prod(given[start : start + len(group)]))
        start += len(group)
    return {**more, **({"within_shape": within} if stated else {}), "in_shape": list(new), "out_shape": out}


def _groups(shape: Sequence[int], within: Sequence[int]) -> list[list[int]]:
    """Tell into which axes each axis is split: (1, 8, 8, 3) and (1, 4, 2, 4, 2, 3) give 1, then 4 2, 4 2, and 3."""
    left, found = list(within), []
    for size in shape:
        group = [left.pop(0)] if left else []
        while left and prod(group) < size:
            group.append(left.pop(0))
        if prod(group) != size:
            raise _RefusalError("moves values within rows of a stated length")
        found.append(group)
    if found and left and prod(left) == 1:
        found[-1] += left
        left = []
    if left:
        raise _RefusalError("moves values within rows of a stated length")
    return found


def _regrouped(group: Sequence[int], size: int) -> list[int]:
    """Return the axes of one of another size: there are fewer groups, of as many values."""
    rest = prod(group[1:])
    if size % rest:
        raise _RefusalError(f"reads {rest} at a time, and gets {size}")
    return [size // rest, *group[1:]]


_RULES: Mapping[str, Callable[[_InputChange], Attributes]] = {
    "IFMDim": _window,
    "ImgDim": lambda change: {"ImgDim": change.image},
    "OutImgDims": lambda change: {"OutImgDims": change.image},
    "Dim": lambda change: {"Dim": change.image},
    "HI": _enlarged,
    "inShape": _converted,
    "lhs_shape": _combined,
    "numInputVectors": _rows,
    "in_shape": _moved,
}
"""By an attribute that a kernel has: how the layer follows its image. FINN's kernels and ours name them alike."""
