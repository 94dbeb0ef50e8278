"""What holds of every transform: the function stays, twice equals once, whoever else reads a tensor."""

from __future__ import annotations

import random
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from qonnx.analysis.topology import nodes_topologically_sorted
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation

from brainsmith.errors import BrainsmithError
from brainsmith.execution.execute import Executor
from brainsmith.figures import plural
from brainsmith.plugin.adapters.framework_mends import mend_frameworks
from brainsmith.testing.default_models import default_models
from brainsmith.testing.feeds import feeds_of
from brainsmith.testing.repeated_readers import with_repeated_readers
from brainsmith.testing.small_models import dangling, infer_values, op_types, run, why_refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx import ValueInfoProto

MOST_NODES = 12
"""A message lists so many nodes."""

MOST_ROUNDS = 1000
"""So often, or ten times for each node, a transform may be applied in a row."""


def check_transform(
    transform: type[Transformation] | Transformation,
    models: Sequence[ModelWrapper] | None = None,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    seed: int = 0,
) -> list[ModelWrapper]:
    """Assert that a transform keeps what models compute, and that applying it twice equals applying it once.

    Each model is tried as it is, and in variants in which one tensor has several readers. Inputs are extremes, patterns,
    values around thresholds, zeros of both signs, very small and very large ones, and random ones.

    Args:
        transform: Its class, which is called without arguments; or an instance.
        models: To apply it to; their shapes are known. By default small graphs of the operators that the transform names.
        rtol: How far outputs may differ, relative to what they were; at 0 they must be equal, as 0 and -0 are.
        atol: How far they may differ besides.
        seed: Of the random inputs.

    Returns:
        What the transform made of each model.

    Raises:
        TypeError: It is no transformation.
        AssertionError: A law does not hold, or the transform changed no model at all; the message names model and place.
    """
    __tracebackhide__ = True
    mend_frameworks()
    transformation = _instance(transform)
    name = type(transformation).__name__
    given = _named(models) if models is not None else default_models(type(transformation))
    if not given:
        raise AssertionError(f"check_transform({name}): no models; give some with models=[...]")
    results, changed, tried = [], False, 0
    for label, model in given:
        for what, variant in (("", model), *with_repeated_readers(model)):
            place = f"{name} of {label}{what and f', {what}'}"
            after, different = _obeys(place, transformation, variant, (rtol, atol), seed)
            changed, tried = changed or different, tried + 1
            results += [] if what else [after]
    if not changed:
        raise AssertionError(
            f"{name} changed no node, constant or datatype of {plural(tried, 'model')}, so nothing was tested:"
            f" {', '.join(label for label, _ in given)}\n"
            "  give check_transform models that it is made for: models=[make_model(...)]"
        )
    return results


def _instance(transform: type[Transformation] | Transformation) -> Transformation:
    if not callable(getattr(transform, "apply", None)):
        raise TypeError(
            "check_transform takes a transformation or its class, such as brainsmith.plugins.transforms.MyPass, "
            f"not {transform!r}"
        )
    if not isinstance(transform, type):
        return transform
    try:
        return transform()
    except TypeError as error:
        error.add_note(
            "check_transform calls a class without arguments; give it an instance where that needs some"
        )
        raise


def _named(models: Sequence[ModelWrapper]) -> list[tuple[str, ModelWrapper]]:
    if not isinstance(models, list | tuple) or not all(isinstance(model, ModelWrapper) for model in models):
        raise TypeError("check_transform takes models=[...], each a ModelWrapper of QONNX")
    return [(f"models[{at}] ({_shown(model)})", model) for at, model in enumerate(models)]


def _shown(model: ModelWrapper) -> str:
    """Return the operators of a model in one line."""
    found = op_types(model)
    more = f", and {len(found) - MOST_NODES} more" if len(found) > MOST_NODES else ""
    return " ".join(found[:MOST_NODES]) + more


@contextmanager
def _same_names() -> Iterator[None]:
    """Let QONNX invent the same names of tensors each time, and the caller's random numbers be as they were."""
    state = random.getstate()
    random.seed(0)
    try:
        yield
    finally:
        random.setstate(state)


def _obeys(
    place: str,
    transformation: Transformation,
    before: ModelWrapper,
    tolerance: tuple[float, float],
    seed: int,
) -> tuple[ModelWrapper, bool]:
    """Assert the laws for one model; return what became of it, and whether that differs from what QONNX's tidying does."""
    __tracebackhide__ = True
    with _same_names():
        tidied = ModelWrapper(before.model, make_deepcopy=True).cleanup()
    try:
        with _same_names():
            after = before.transform(_Bounded(transformation, before, place))
        twice = after.transform(_Bounded(transformation, after, place))
    except Exception as error:
        error.add_note(f"while applying {place}: {_shown(before)}")
        raise
    _same_interface(place, before, after)
    changed = _content(after) != _content(tidied)
    if changed:
        _still_loads(place, before, after)
        _same_results(place, before, after, tolerance, seed)
    if _content(twice) != _content(after):
        raise AssertionError(
            f"{place}: applying it twice differs from applying it once, {_first_difference(after, twice)}\n"
            f"  once:  {_shown(after)}\n  twice: {_shown(twice)}"
        )
    return after, changed


class _Bounded(Transformation):  # type: ignore[misc]
    """Applies a transform as often as it says that the model changed, but not for ever."""

    def __init__(self, transformation: Transformation, model: ModelWrapper, place: str) -> None:
        super().__init__()
        self._transformation, self._place = transformation, place
        self._most = max(MOST_ROUNDS, 10 * len(model.graph.node))
        self._rounds = 0

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Apply it once."""
        self._rounds += 1
        if self._rounds > self._most:
            raise AssertionError(
                f"{self._place}: its apply said {self._most} times in a row that it changed the model: it must return "
                "(model, False) when nothing is left to do"
            )
        found: tuple[ModelWrapper, bool] = self._transformation.apply(model)
        return found


def _first_difference(once: ModelWrapper, twice: ModelWrapper) -> str:
    """Say where two models first differ in what a transform may change."""
    for what, one, other in zip(
        ("node", "constant", "annotation"), _content(once), _content(twice), strict=True
    ):
        for at, (mine, its) in enumerate(zip_longest(one, other)):
            if mine != its:
                return f"first in {what} {at}"
    raise ValueError("they are equal")


def _still_loads(place: str, before: ModelWrapper, after: ModelWrapper) -> None:
    """Assert that ONNX Runtime takes the graph, if all of its operators are standard and it took the one before."""
    __tracebackhide__ = True
    if any(node.domain not in ("", "ai.onnx") for node in after.graph.node):
        return
    refused = why_refused(after)
    if refused and not why_refused(before):
        raise AssertionError(
            f"{place}: ONNX Runtime refuses what it made: {refused}\n"
            f"  before: {_shown(before)}\n  after:  {_shown(after)}"
        )


def _content(model: ModelWrapper) -> tuple[list[bytes], ...]:
    """Return what a transform may change of a model: nodes, constants, datatypes."""
    graph = model.graph
    parts = (graph.node, graph.initializer, graph.quantization_annotation)
    return tuple([one.SerializeToString(deterministic=True) for one in part] for part in parts)


def _same_interface(place: str, before: ModelWrapper, after: ModelWrapper) -> None:
    __tracebackhide__ = True
    for what in ("input", "output"):
        was, found = ([_typed(one) for one in getattr(model.graph, what)] for model in (before, after))
        if was != found:
            raise AssertionError(
                f"{place}: the {what}s of the model differ\n"
                f"  before: {'; '.join(was)}\n  after:  {'; '.join(found)}"
            )


def _typed(value: ValueInfoProto) -> str:
    shape = [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]
    return f"{value.name} {onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)} {shape}"


def _same_results(
    place: str, before: ModelWrapper, after: ModelWrapper, tolerance: tuple[float, float], seed: int
) -> None:
    __tracebackhide__ = True
    feeds = feeds_of(before, seed)
    expected = Executor(before).run(feeds)
    try:
        found = Executor(after).run(feeds)
    except BrainsmithError as error:
        raise AssertionError(
            f"{place}: what it made cannot be executed: {error}\n"
            f"  before: {_shown(before)}\n  after:  {_shown(after)}"
        ) from error
    for name, values in expected.items():
        different = differences(values, found[name], *tolerance)
        if different is not None:
            raise AssertionError(
                f"{place}: output {name!r} differs: {different}\n"
                f"  before: {_shown(before)}\n  after:  {_shown(after)}"
            )


def differences(
    expected: Any,
    found: Any,
    rtol: float = 0.0,
    atol: float = 0.0,
    names: tuple[str, str] = ("before", "after"),
) -> str | None:
    """Return what differs between two arrays, in one line; None if nothing does.

    Args:
        expected: The first one.
        found: The second one.
        rtol: How far values may differ, relative to the first.
        atol: How far they may differ besides. NaN equals NaN.
        names: How the line calls the two.
    """
    first, second = names
    if (expected.shape, expected.dtype) != (found.shape, found.dtype):
        return f"{expected.dtype} {expected.shape} {first}, {found.dtype} {found.shape} {second}"
    if expected.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            same = np.isclose(found, expected, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = found == expected
    if same.all():
        return None
    place = tuple(int(at) for at in np.argwhere(~same)[0])
    count = f"{plural(int((~same).sum()), 'value')} of {same.size:,}"
    return f"{count}, first at {list(place)}: {expected[place]} {first}, {found[place]} {second}"


def apply_once(transformation: Transformation, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
    """Apply a transform once, without QONNX's tidying, and assert what BrainSmith's own ones promise besides.

    The flag is True exactly where something changed; a second application changes nothing; the graph is valid and sorted,
    nothing is left over, and all shapes are right.

    Returns:
        The new model, and the flag; the given model stays as it is.
    """
    before = ModelWrapper(model.model, make_deepcopy=True)
    after, modified = transformation.apply(ModelWrapper(model.model, make_deepcopy=True))
    once = after.model.SerializeToString()
    assert modified == (once != before.model.SerializeToString()), (
        "its flag says otherwise than what it changed"
    )
    again, modified_again = transformation.apply(after)
    assert (modified_again, again.model.SerializeToString()) == (False, once), "twice differs from once"
    onnx.checker.check_model(after.model, full_check=True)
    assert after.analysis(nodes_topologically_sorted)["nodes_topologically_sorted"], (
        "the nodes are out of order"
    )
    if modified:
        assert dangling(after) == dangling(before), "it leaves tensors over that nothing reads"
        declared = _types([*after.graph.value_info, *after.graph.output])
        inferred = _types(infer_values(after.model))
        assert {name: declared.get(name) for name in inferred} == inferred, (
            "shapes are not as ONNX infers them"
        )
        assert after.check_all_tensor_shapes_specified(), "shapes are missing"
    return after, bool(modified)


def _types(values: Iterable[ValueInfoProto]) -> dict[str, tuple[int, str]]:
    """Return element type and shape by tensor."""
    return {v.name: (v.type.tensor_type.elem_type, str(v.type.tensor_type.shape)) for v in values}


def check_same_function(
    transformation: Transformation,
    model: ModelWrapper,
    feeds: Mapping[str, Any],
    rtol: float = 0.0,
    atol: float = 0.0,
) -> tuple[ModelWrapper, bool]:
    """Apply a transform as `apply_once` does, and compare all outputs in ONNX Runtime.

    Returns:
        The new model, and the flag.
    """
    after, modified = apply_once(transformation, model)
    expected, found = run(model, feeds), run(after, feeds)
    assert list(expected) == list(found)
    for name, value in expected.items():
        different = differences(value, found[name], rtol, atol)
        assert different is None, f"output {name!r} differs: {different}"
    return after, modified
