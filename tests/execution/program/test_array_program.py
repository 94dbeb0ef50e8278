"""Running a program: chunks, what is kept, messages, and one thread for products."""

import numpy as np
import pytest

from brainsmith.errors import BuildError
from brainsmith.execution.program import blas_threads
from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import find, name_of
from brainsmith.execution.signature import ModelSignature, TensorSpec

SIGNATURE = ModelSignature((TensorSpec("x", (1, 2)),), (TensorSpec("y", (1, 2)), TensorSpec("c", (3,))))
STEPS = (
    Instruction("arithmetic.apply", ("x", "two"), ("t",), {"name": "Mul"}, "node 'a' (Mul)"),
    Instruction("arithmetic.apply", ("t", "two"), ("y",), {"name": "Add"}, "node 'b' (Add)"),
)
CONSTANTS = {"two": np.float32([2, 2]), "c": np.float32([1, 2, 3])}


def program(steps=STEPS, **changes):
    return Program(SIGNATURE, steps, CONSTANTS, ("t", "y"), {}, **changes)


def stack(runs=5):
    return np.arange(2.0 * runs, dtype=np.float32).reshape(runs, 1, 2)


@pytest.mark.parametrize("chunk", [1, 2, 5, 99])
def test_chunks_change_nothing(chunk):
    found = program(chunk=chunk).run({"x": stack()})
    assert list(found) == ["y", "c"]
    np.testing.assert_array_equal(found["y"], 2 * stack() + 2)
    np.testing.assert_array_equal(found["c"], [[1, 2, 3]] * 5)


def test_what_is_kept():
    assert set(program().run({"x": stack()}, frozenset({"t"}))) == {"t", "y", "c"}
    everything = program().run({"x": stack()}, None)
    assert set(everything) == {"x", "t", "y", "c"}
    np.testing.assert_array_equal(everything["t"], 2 * stack())


def test_a_check_makes_a_tensor_anew():
    check = Instruction(
        "datatype_checks.annotated",
        ("x",),
        ("x",),
        {
            "tensor": "x",
            "datatype": "INT4",
            "low": -8.0,
            "high": 7.0,
            "holes": "",
            "threshold": 0.01,
            "settled": True,
        },
    )
    found = program((check, *STEPS)).run({"x": np.float32([[[1.001, 7]]])}, None)
    assert found["x"].tolist() == [[[1.0, 7.0]]]
    with pytest.raises(BuildError, match=r"^tensor 'x' is annotated as INT4, but holds 8$"):
        program((check, *STEPS)).run({"x": np.float32([[[0, 8]]])})


def test_a_failing_instruction_is_named_by_its_node():
    with pytest.raises(BuildError) as caught:
        program().run({"x": np.zeros((1, 1, 3), np.float32)})
    assert str(caught.value).startswith("node 'a' (Mul) cannot be executed: operands could not be broadcast")


@pytest.mark.parametrize("name", ["nothing.here", "arithmetic.nothing", "no module", "..table.find"])
def test_an_unknown_instruction(name):
    with pytest.raises(LookupError) as caught:
        find(name, {})
    assert str(caught.value) == f"no instruction {name!r}"


def test_names_of_functions():
    from brainsmith.execution.program.functions import arithmetic

    assert name_of(arithmetic.clip) == "arithmetic.clip"
    assert find("arithmetic.clip", {}) is arithmetic.clip


def test_products_have_one_thread_inside_and_those_before_outside():
    library = blas_threads._library()
    if library is None:
        pytest.skip("needs a NumPy with its own OpenBLAS")
    ask, tell = library
    before = ask()
    try:
        tell(2)
        with blas_threads.one_thread():
            assert ask() == 1
            with blas_threads.one_thread():
                assert ask() == 1
            assert ask() == 1
        assert ask() == 2
    finally:
        tell(before)
