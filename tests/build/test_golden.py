import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.build.golden import inputs_file, load_golden
from brainsmith.errors import BuildError, InputError
from brainsmith.execution.inputs import read_inputs
from brainsmith.runtime.resource_manager import ResourceManager
from tests.build import graphs

MLP = graphs.quant_mlp()
CNN = graphs.quant_cnn()


def failure(*arguments, model=MLP):
    with pytest.raises(BuildError) as caught:
        load_golden(model, *arguments)
    return str(caught.value)


def test_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(60, dtype=np.uint8).reshape(10, 6))
    np.save(tmp_path / "y.npy", np.arange(10) % 3)
    np.save(tmp_path / "z.npy", np.zeros((10, 3)))
    golden = load_golden(MLP, tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "z.npy")
    assert (golden.inputs.shape, golden.inputs.dtype, golden.random) == ((10, 1, 6), np.float32, False)
    assert golden.labels.tolist() == [0, 1, 2] * 3 + [0]
    assert golden.expected.shape == (10, 3)


def test_an_archive_with_one_array_is_as_good_as_the_array_and_steps_are_given_an_npy_file(tmp_path):
    data = np.arange(60, dtype=np.float32).reshape(10, 6)
    np.savez_compressed(tmp_path / "x.npz", x=data)
    np.savez(tmp_path / "y.npz", np.arange(10) % 3)
    golden = load_golden(MLP, tmp_path / "x.npz", tmp_path / "y.npz", None)
    np.testing.assert_array_equal(golden.inputs.reshape(10, 6), data)
    assert golden.labels.tolist() == [0, 1, 2] * 3 + [0]
    (tmp_path / "out").mkdir()
    file = inputs_file(tmp_path / "x.npz", golden, tmp_path / "out")
    assert file is not None and file.is_relative_to(tmp_path / "out")
    np.testing.assert_array_equal(np.load(file), data)


@pytest.mark.parametrize("shape", [(5, 6), (5, 1, 6), (5, 2, 3), (5, 6, 1, 1)])
def test_shapes_that_fit_a_flat_input(shape):
    assert load_golden(MLP, np.zeros(shape), None, None).inputs.shape == (5, 1, 6)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((5, 6, 6, 2), "input 'x' must have shape (n, 2, 6, 6), not (5, 6, 6, 2)"),
        ((5, 72), "input 'x' must have shape (n, 2, 6, 6), not (5, 72)"),
        ((0, 2, 6, 6), "input 'x' has no samples: its shape is (0, 2, 6, 6)"),
        ((), "input 'x' must have shape (n, 2, 6, 6), not ()"),
    ],
)
def test_shapes_that_would_be_a_guess(shape, message):
    assert failure(np.zeros(shape), None, None, model=CNN) == f"the given array: {message}"


def annotated(datatype):
    model = graphs.quant_mlp()
    model.set_tensor_datatype("x", DataType[datatype])
    return model


@pytest.mark.parametrize(
    ("datatype", "value", "allowed"),
    [
        ("UINT5", -3.7, "UINT5, whole numbers from 0 to 31, not -3.7"),
        ("UINT5", 5 / 16, "UINT5, whole numbers from 0 to 31, not 0.3125"),
        ("UINT5", 32, "UINT5, whole numbers from 0 to 31, not 32"),
        ("UINT5", np.nan, "UINT5, whole numbers from 0 to 31, not nan"),
        ("UINT5", -np.inf, "UINT5, whole numbers from 0 to 31, not -inf"),
        ("BIPOLAR", 0, "BIPOLAR, -1 or 1, not 0"),
    ],
)
def test_values_outside_of_the_inputs_datatype_are_refused_as_run_refuses_them(datatype, value, allowed):
    data = np.ones((4, 6))
    data[2, 3] = value
    message = f"input 'x' must hold values of its datatype {allowed} at [2, 3]"
    assert failure(data, None, None, model=annotated(datatype)) == f"the given array: {message}"
    with pytest.raises(InputError) as caught, ResourceManager({"device": "numpy"}) as manager:
        manager.execute(manager.prepare_resource(annotated(datatype)), data.astype(np.float32))
    assert str(caught.value) == message


@pytest.mark.parametrize("given", [np.full((4, 6), "a"), np.zeros((4, 6), complex)])
def test_what_holds_no_real_numbers_is_refused_as_run_refuses_it(given):
    message = f"input 'x' must be of float32, not {given.dtype}; convert it with .astype('float32')"
    assert failure(given, None, None) == f"the given array: {message}"
    with pytest.raises(InputError) as caught, ResourceManager({"device": "numpy"}) as manager:
        manager.execute(manager.prepare_resource(MLP), given)
    assert str(caught.value) == message


def test_numbers_that_float32_does_not_hold_are_refused():
    data = np.zeros((4, 6), np.int64)
    data[1, 2] = 2**24 + 1
    assert failure(data, None, None, model=annotated("UINT32")) == (
        "the given array: it holds int64, and input 'x' takes float32, which cannot hold its values"
    )
    assert failure(np.full((4, 6), 1e300), None, None) == (
        "the given array holds values for input 'x' that are not finite, in 4 of 4 samples, first in sample 0"
    )


def test_random_inputs_are_the_same_each_time_and_fit_the_datatype():
    first, second = load_golden(MLP, None, None, None), load_golden(MLP, None, None, None)
    assert first.random
    assert first.inputs.shape == (8, 1, 6)
    np.testing.assert_array_equal(first.inputs, second.inputs)
    model = graphs.quant_mlp()
    for name, values in (("INT2", {-2, -1, 0, 1}), ("BIPOLAR", {-1, 1}), ("BINARY", {0, 1})):
        model.set_tensor_datatype("x", DataType[name])
        assert set(load_golden(model, None, None, None).inputs.ravel()) == values


def test_labels_without_inputs():
    message = "there are labels to verify with, but no inputs: give verify inputs too"
    assert failure(None, np.zeros(3), None) == message


def test_counts_must_agree():
    assert failure(np.zeros((4, 6)), np.zeros(3), None) == (
        "the given array holds 3 labels for 4 inputs: one each is needed"
    )
    assert failure(np.zeros((4, 6)), None, np.zeros((3, 3))) == (
        "the given array holds outputs of shape (3, 3); output 'm1' has 3 values for each of 4 inputs, or its "
        "class number alone"
    )


def test_labels_are_whole_numbers():
    message = "the given array holds labels that are not whole numbers"
    assert failure(np.zeros((2, 6)), np.asarray([0.5, 1]), None) == message


def test_files_that_cannot_be_read(tmp_path):
    assert failure(tmp_path / "x.npy", None, None) == f"verify inputs: {tmp_path}/x.npy does not exist"
    (tmp_path / "x.npy").write_text("no")
    assert failure(tmp_path / "x.npy", None, None) == (
        f"verify inputs: {tmp_path}/x.npy is not an .npy or .npz file of plain numbers"
    )
    np.save(tmp_path / "o.npy", np.asarray([{}], dtype=object), allow_pickle=True)
    assert "is not an .npy or .npz file of plain numbers" in failure(tmp_path / "o.npy", None, None)
    assert failure("abc.npy", None, None) == "verify inputs: abc.npy does not exist"
    assert failure([1, 2], None, None) == (
        "verify inputs must be real numbers, not list: a .npy file or an array"
    )


def test_a_damaged_archive_says_so(tmp_path):
    np.savez(tmp_path / "x.npz", np.zeros((2, 6)))
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:-30])
    assert failure(tmp_path / "x.npz", None, None) == (
        f"verify inputs: {tmp_path}/x.npz is not an .npy or .npz file of plain numbers"
    )


def test_values_that_are_not_finite_are_refused_before_they_blame_a_step():
    data = np.zeros((5, 6), np.float32)
    data[3, 1], data[4, 0] = np.nan, np.inf
    assert failure(data, None, None) == (
        "the given array holds values for input 'x' that are not finite, in 2 of 5 samples, first in sample 3"
    )


@pytest.mark.parametrize(("low", "high"), [(-1, 2), (0, 3)])
def test_labels_that_are_no_classes_are_refused(low, high):
    labels = np.asarray([low, 0, 1, high])
    assert failure(np.zeros((4, 6)), labels, None) == (
        f"the given array holds labels from {low} to {high}, and output 'm1' has 3 values: "
        "labels must be from 0 to 2"
    )


def test_files_of_another_kind_are_named(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.zeros((2, 6)), b=np.zeros(2))
    np.save(tmp_path / "s.npy", np.asarray(["a"]))
    (tmp_path / "t.npy").write_text("1,2")
    assert failure(tmp_path / "x.npz", None, None) == (
        f"verify inputs: {tmp_path}/x.npz holds the arrays a, b, and one array is needed: give a file with this one alone"
    )
    assert failure(np.zeros((1, 6)), tmp_path / "s.npy", None) == (
        f"verify labels: {tmp_path}/s.npy holds <U1, not real numbers"
    )
    assert failure(tmp_path / "t.npy", None, None) == (
        f"verify inputs: {tmp_path}/t.npy is not an .npy or .npz file of plain numbers"
    )
    assert failure(tmp_path, None, None) == (
        f"verify inputs: {tmp_path} is a folder, and arrays are in an .npy or .npz file"
    )


def two_inputs():
    model = graphs.quant_mlp()
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, 4]))
    model.set_tensor_datatype("mask", DataType["BIPOLAR"])
    return model


def test_each_of_several_inputs_has_an_array_of_its_name(tmp_path):
    model, x, mask = two_inputs(), np.arange(18.0).reshape(3, 6), np.ones((3, 4))
    np.savez(tmp_path / "x.npz", mask=mask, x=x)
    for source in (tmp_path / "x.npz", {"x": x, "mask": mask}):
        golden = load_golden(model, source, None, None)
        assert golden.feed(["x", "mask"]).keys() == {"x", "mask"}
        np.testing.assert_array_equal(golden.feed(["x", "mask"])["x"][:, 0], x)
        np.testing.assert_array_equal(golden.others["mask"][:, 0], mask)
        file = inputs_file(source, golden, tmp_path)
        assert file == tmp_path / "checkpoints" / "00_inputs.npz"
        for at, (shape, values) in enumerate((((1, 6), x), ((1, 4), mask))):
            np.testing.assert_array_equal(read_inputs(file, shape, "renamed", at)[:, 0], values)
    drawn = load_golden(model, None, None, None)
    assert (drawn.inputs.shape, drawn.others["mask"].shape) == ((8, 1, 6), (8, 1, 4))
    assert set(drawn.others["mask"].ravel()) == {-1, 1}


def test_one_input_may_be_named_too():
    np.testing.assert_array_equal(
        load_golden(MLP, {"x": np.ones((2, 6))}, None, None).inputs, np.ones((2, 1, 6))
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (np.ones((3, 6)), "holds one array, and the inputs are x, mask\n  give an .npz file with an array of each name"),
        ({"x": np.ones((3, 6))}, "holds the array x, and the inputs are x, mask\n  give an .npz file with an array of"),
        ({}, "holds no array, and the inputs are x, mask\n  give an .npz file with an array of each name: numpy.savez"),
        ({"x": np.ones((3, 6)), "mask": np.ones((2, 4))}, "must hold as many samples of each input, not 3 of 'x', 2 of"),
        ({"x": np.ones((3, 6)), "mask": np.zeros((3, 4))}, ": input 'mask' must hold values of its datatype BIPOLAR, -1"),
    ],
)  # fmt: skip
def test_arrays_of_other_inputs_are_refused(arrays, message):
    assert message in failure(arrays, None, None, model=two_inputs())
