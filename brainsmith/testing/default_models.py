"""Small graphs of the operators that a transform names, for a check that is given no models."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import textwrap
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import helper

from brainsmith.errors import BrainsmithError
from brainsmith.execution.execute import Executor
from brainsmith.testing.operator_forms import FORMS, Form, form_of
from brainsmith.testing.small_models import make_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

OPSET = 17
_BASE = "qonnx.transformation.base"
MOST = 6
"""Of so many operators each pair is tried, one behind the other."""


def default_models(transform: type) -> list[tuple[str, ModelWrapper]]:
    """Return small models of the operators whose names stand in a transform's source, each with what it is.

    Each operator alone, between two others, twice in a row, and with both of its inputs from one tensor if it has two;
    each pair of them; and all in the order in which they are named.

    Raises:
        AssertionError: It names none, or none of which a small model is known.
    """
    named = named_operators(transform)
    forms = {name: form for name in named if (form := form_of(name, OPSET)) is not None}
    if not forms:
        known = f" but {', '.join(named)}, of which no small model is known" if named else ""
        raise AssertionError(
            f"{transform.__name__}: its source names no operator{known}; so there is nothing to apply it to\n"
            "  give check_transform models that it is made for: models=[make_model(...)]"
        )
    chains: list[tuple[str, ...]] = [(name,) for name in forms]
    chains += [(name, name) for name in forms]
    chains += [("Relu", name, "Neg") for name in forms]
    chains += list(itertools.permutations(list(forms)[:MOST], 2))
    chains += [tuple(forms)] if len(forms) > 2 else []
    found = [(" ".join(chain), _chain(chain, forms)) for chain in dict.fromkeys(chains)]
    found += [(f"{name} of one tensor twice", _both(name)) for name, form in forms.items() if form.binary]
    return [(label, model) for label, model in found if model is not None and _runs(model)]


def named_operators(transform: type) -> list[str]:
    """Return the operators whose names are texts in a class and its bases; where there are none, in their files."""
    found = dict.fromkeys(getattr(transform, "op_types", ()))
    bases = [cls for cls in transform.__mro__ if cls.__module__ not in ("builtins", "abc", _BASE)]
    for where in (*bases, *(sys.modules[cls.__module__] for cls in bases)):
        if isinstance(where, type) or not found:
            found.update(dict.fromkeys(_names_in(where)))
    return list(found)


def _names_in(where: object) -> Iterator[str]:
    """Yield the names of operators in the source of a class or module."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(where)))  # type: ignore[arg-type]
    except (OSError, TypeError):  # defined where no source is kept
        return
    texts = [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    for text in sorted(texts, key=lambda node: (node.lineno, node.col_offset)):
        if _is_operator(str(text.value)):
            yield str(text.value)


def _is_operator(text: str) -> bool:
    return text in FORMS or (text.isidentifier() and onnx.defs.has(text, OPSET))


def _chain(names: Sequence[str], forms: Mapping[str, Form]) -> ModelWrapper | None:
    """Return a model with operators one behind the other; None where one does not take what the one before gives."""
    shape = next((forms[name].shape for name in names if name in forms), (1, 4))
    used = [forms.get(name, Form(shape)) for name in names]
    nodes: list[NodeProto] = []
    constants: dict[str, object] = {}
    for at, (name, form) in enumerate(zip(names, used, strict=True)):
        held = {f"c{at}_{number}": value for number, value in enumerate(form.constants)}
        constants |= held
        read = "x" if at == 0 else f"t{at - 1}"
        written = "y" if at == len(names) - 1 else f"t{at}"
        op_type, inputs = ("Identity", [read]) if form.domain else (name, [read, *held])
        attributes = {} if form.domain else form.attributes
        nodes.append(helper.make_node(op_type, inputs, [written], name=f"n{at}", **attributes))
    model = _made(lambda: make_model(nodes, {"x": shape}, ["y"], constants, OPSET))
    for at, (name, form) in enumerate(zip(names, used, strict=True)) if model is not None else ():
        if (
            form.domain
        ):  # ONNX's shape inference knows its own operators alone; these keep the shape, as Identity does
            _replace(model, at, name, form)
    return model


def _replace(model: ModelWrapper, at: int, name: str, form: Form) -> None:
    old = model.graph.node[at]
    held = [f"c{at}_{number}" for number in range(len(form.constants))]
    old.CopyFrom(
        helper.make_node(
            name, [old.input[0], *held], old.output, name=old.name, domain=form.domain, **form.attributes
        )
    )
    if all(one.domain != form.domain for one in model.model.opset_import):
        model.model.opset_import.append(helper.make_opsetid(form.domain, 1))


def _both(name: str) -> ModelWrapper | None:
    """Return a model in which a node of two inputs reads one tensor twice."""
    attributes = FORMS[name].attributes if name in FORMS else {}
    nodes = [
        helper.make_node("Neg", ["x"], ["t"], name="n0"),
        helper.make_node(name, ["t", "t"], ["y"], name="n1", **attributes),
    ]
    return _made(lambda: make_model(nodes, {"x": (1, 4)}, ["y"], None, OPSET))


def _runs(model: ModelWrapper) -> bool:
    """Tell whether a model can be executed: ONNX infers shapes of some nodes whose inputs do not fit together."""
    try:
        Executor(model).run({"x": np.ones((1, *model.get_tensor_shape("x")), np.float32)})
    except BrainsmithError:
        return False
    return True


def _made(make: Callable[[], ModelWrapper]) -> ModelWrapper | None:
    try:
        return make()
    except onnx.shape_inference.InferenceError:
        return None
