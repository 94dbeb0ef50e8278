"""Golden inputs in the shape that a changed model's input has now, and random ones."""

import re

import numpy as np
import pytest
from qonnx.core.datatype import DataType

from brainsmith.errors import BuildError
from brainsmith.execution.inputs import fit_inputs, random_inputs, read_inputs
from tests.build import graphs

DATA = np.random.default_rng(1).integers(0, 9, (5, 3, 8, 6))


@pytest.mark.parametrize(
    ("have", "want", "expected"),
    [
        ((5, 3, 8, 6), (1, 3, 8, 6), DATA.reshape(5, 1, 3, 8, 6)),
        ((5, 1, 3, 8, 6), (1, 3, 8, 6), DATA.reshape(5, 1, 3, 8, 6)),
        ((5, 3, 8, 6), (1, 8, 6, 3), DATA.transpose(0, 2, 3, 1)[:, None]),
        ((5, 1, 3, 8, 6), (1, 8, 6, 3), DATA.transpose(0, 2, 3, 1)[:, None]),
        ((5, 3, 8, 6), (1, 144), DATA.reshape(5, 1, 144)),
        ((5, 144), (1, 144), DATA.reshape(5, 1, 144)),
        ((5, 144), (144,), DATA.reshape(5, 144)),
        ((5, 3, 48), (1, 3, 48, 1), DATA.reshape(5, 1, 3, 48, 1)),
    ],
)
def test_samples_are_brought_into_shape(have, want, expected):
    fitted = fit_inputs(DATA.reshape(have), want, "")
    assert (fitted.dtype, fitted.flags.c_contiguous) == (np.float32, True)
    np.testing.assert_array_equal(fitted, expected)


def test_what_does_not_fit_or_is_no_array_is_said(tmp_path):
    file = tmp_path / "x.npy"
    with pytest.raises(
        BuildError, match=rf"^golden inputs: {re.escape(str(file))} does not exist; verify_input_npy names"
    ):
        read_inputs(file, (1, 4), "in")
    file.write_text("no array")
    with pytest.raises(
        BuildError, match=rf"^golden inputs: {re.escape(str(file))} is not an .npy or .npz file of plain"
    ):
        read_inputs(file, (1, 4), "in")
    np.save(file, np.array(["a", "b"]))
    with pytest.raises(BuildError, match=r"must hold one array \(samples, ...\) of real numbers$"):
        read_inputs(file, (1, 4), "in")
    np.save(file, DATA)
    with pytest.raises(BuildError) as caught:
        read_inputs(file, (1, 7), "in")
    assert str(caught.value) == (
        f"golden inputs: {file} has shape (5, 3, 8, 6), which does not fit input 'in' of shape (1, 7)"
    )
    assert read_inputs(file, (1, 144), "in").shape == (5, 1, 144)


@pytest.mark.parametrize(("kind", "values"), [("UINT2", {0, 1, 2, 3}), ("BIPOLAR", {-1, 1})])
def test_random_inputs_are_what_the_datatype_allows(kind, values):
    model = graphs.quant_mlp()
    model.set_tensor_datatype("x", DataType[kind])
    drawn = random_inputs(model, "x", 50)
    assert drawn.shape == (50, *model.get_tensor_shape("x"))
    assert set(np.unique(drawn)) == values
    np.testing.assert_array_equal(drawn, random_inputs(model, "x", 50))
    assert (drawn != random_inputs(model, "x", 50, seed=1)).any()


@pytest.mark.parametrize("have", [(5, 3, 4, 4, 3), (5, 3, 3, 4, 4), (5, 3, 48)])
def test_the_samples_of_a_batch_become_inputs_of_a_model_of_one(have):
    data = np.arange(5 * 3 * 48).reshape(have)
    fitted = fit_inputs(data, (1, 48) if len(have) == 3 else (1, 4, 4, 3), "")
    assert fitted.shape[0] == 15
    np.testing.assert_array_equal(np.sort(fitted.reshape(15, -1)), data.reshape(15, -1))


def test_a_batch_that_the_model_takes_as_one_row_is_one_input():
    assert fit_inputs(np.zeros((5, 2, 6)), (1, 12), "").shape == (5, 1, 12)
