"""Chains: pre-processing, inference, post-processing, executed like one."""

import numpy as np
import pytest

from brainsmith.errors import InputError, TargetError
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.targets import Prepared, Stage
from tests.runtime.toys import toy

X = np.float32([[1, 2]])


def shaped(inputs, outputs, compute):
    """Return members of a toy whose models have other inputs and outputs."""
    signature = ModelSignature(
        tuple(TensorSpec(name, shape) for name, shape in inputs.items()),
        tuple(TensorSpec(name, shape) for name, shape in outputs.items()),
    )
    return {
        "prepare_resource": lambda self, resource, config=None: Prepared(
            target=self, signature=signature, payload=None
        ),
        "execute": lambda self, prepared, inputs, **kwargs: compute(**inputs),
    }


@pytest.fixture
def toys(manager):
    toy("Double")
    toy("Triple", factor=3.0)
    manager.switch_plugin("double")
    return manager


def test_stages_run_one_behind_the_other_on_their_targets(toys):
    def halve(x):
        return x / 2

    chain = toys.prepare_chain([halve, "net", Stage("tail", device="triple"), lambda y: y.argmax(axis=1)])
    assert len(chain) == 4
    assert repr(chain) == "<chain halve -> net -> tail -> <lambda>>"
    assert {name: y.tolist() for name, y in toys.execute(chain, X).items()} == {"output": [1]}
    assert chain.execute(np.float32([[4, 2], [0, 6]]))["output"].tolist() == [0, 1]
    assert {name: p.executes for name, p in toys.profiles().items()} == {"double:0": 2, "triple:0": 2}
    assert toys.active.factor == 2.0


def test_prepared_resources_are_stages_too(toys):
    first = toys.prepare_resource("net", {"factor": 10})
    chain = toys.prepare_chain([first, Stage("net", config={"factor": 0.5})])
    assert chain.execute(X)["y"].tolist() == chain.execute({"x": X})["y"].tolist() == [[5, 10]]
    assert toys.prepare_chain(["net"]).execute({"x": X})["y"].tolist() == [[2, 4]]


def test_inputs_come_by_name_from_any_stage_before(toys):
    toy(
        "Two",
        **shaped(
            {"x": (1, 2)}, {"sum": (1, 1), "y": (1, 2)}, lambda x: {"sum": x.sum(1, keepdims=True), "y": x}
        ),
    )
    toy("Join", **shaped({"y": (1, 2), "scale": (1, 1)}, {"z": (1, 2)}, lambda y, scale: {"z": y * scale}))
    chain = toys.prepare_chain(
        [
            Stage("a", "two"),
            Stage("b", "double", inputs={"x": "y"}),
            Stage("c", "join", inputs={"scale": "sum"}),
        ]
    )
    assert chain.execute(X)["z"].tolist() == [[6, 12]]
    straight = toys.prepare_chain(
        [Stage("a", "two"), lambda table: dict(reversed(table.items())), Stage("c", "join")]
    )
    assert straight.execute(X)["z"].tolist() == [[3, 6]]


def test_an_empty_chain_is_refused(toys):
    with pytest.raises(TargetError, match=r"^a chain needs at least one stage$"):
        toys.prepare_chain([])


def test_stages_that_do_not_fit_are_told_when_they_are_prepared(toys):
    toy("Wide", **shaped({"w": (1, 3)}, {"v": (1, 3)}, lambda w: {"v": w}))
    with pytest.raises(TargetError) as error:
        toys.prepare_chain(["net", Stage("tail", device="wide")])
    assert str(error.value) == (
        "stage 2 of the chain (tail) takes 'w' float32 (1, 3), and stage 1 (net) gives 'y' float32 (1, 2)"
    )


def test_what_a_stage_cannot_take_names_the_stage(toys):
    chain = toys.prepare_chain(["net", lambda y: y[:, :1], "net"])
    with pytest.raises(InputError) as error:
        chain.execute(X)
    assert str(error.value) == "stage 3 of the chain (net): input 'x' must have shape (n, 2), not (1, 1)"


@pytest.fixture
def adding(toys):
    """Return a chain: y of x doubled, then y + b."""
    toy("Sum", **shaped({"y": (1, 2), "b": (1, 2)}, {"z": (1, 2)}, lambda y, b: {"z": y + b}))
    return toys.prepare_chain(["net", Stage("tail", "sum")])


def test_a_later_stage_takes_an_input_of_the_chain(adding):
    assert adding.execute({"x": X, "b": 10 * X})["z"].tolist() == [[12, 24]]


def test_a_name_that_no_stage_takes_and_one_that_is_missing_are_told(adding):
    for inputs, message in (
        (
            {"x": X, "c": X},
            "stage 1 of the chain (net): the model has no input 'c'; it has 'x' float32 (1, 2)",
        ),
        ({"b": X}, "stage 1 of the chain (net): input 'x' is missing; the model has 'x' float32 (1, 2)"),
        (
            X,
            "stage 2 of the chain (tail): input 'b' is missing; "
            "the model has 'y' float32 (1, 2), 'b' float32 (1, 2)",
        ),
    ):
        with pytest.raises(InputError) as error:
            adding.execute(inputs)
        assert str(error.value) == message


def test_the_first_stage_takes_its_inputs_from_where_it_says(toys):
    chain = toys.prepare_chain([Stage("net", inputs={"x": "q"})])
    assert chain.execute({"q": X})["y"].tolist() == [[2, 4]]
    assert chain.execute(X)["y"].tolist() == [[2, 4]]


def test_a_later_stage_takes_what_the_chain_was_given_alone(toys):
    toy("Sum", **shaped({"x": (1, 2), "y": (1, 2)}, {"z": (1, 2)}, lambda x, y: {"z": x + y}))
    assert toys.prepare_chain(["net", Stage("tail", "sum")]).execute(X)["z"].tolist() == [[3, 6]]


@pytest.mark.parametrize("result", [None, {"a": X, "b": None}, [[1], [1, 2]]])
def test_a_function_that_returns_no_arrays_is_told(toys, result):
    def nothing(y):
        return result

    chain = toys.prepare_chain(["net", nothing])
    with pytest.raises(TargetError) as error:
        chain.execute(X)
    assert str(error.value) == (
        f"stage 2 of the chain (nothing) must return an array or a table of arrays, not {result!r}"
    )
