"""The reference: QONNX's own execution as a target."""

import tracemalloc

import numpy as np
import onnx
import pytest
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith import targets
from brainsmith.errors import InputError, TargetError, UnsupportedResourceError

MODEL = "examples/digits/mlp.onnx"


@pytest.fixture(scope="module")
def model():
    from pathlib import Path

    return Path(__file__).parents[2] / MODEL


@pytest.fixture
def manager():
    with targets.ResourceManager({"device": "reference"}) as made:
        yield made


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 16, (3, 64)).astype(np.float32)


def test_it_is_there_and_the_last_choice():
    info = targets.get_registry().get_info("reference")
    assert (info.priority, info.device_types, info.vendor) == (0, ("cpu",), "QONNX")
    assert "reference" in targets.list_plugins().names()
    assert targets.list_plugins().names()[-1] == "reference"
    assert type(targets.get_registry().get_plugin("reference")).device_ids() == (0,)


def test_it_gives_what_qonnx_gives_for_any_number_of_runs(manager, model, images):
    prepared = manager.prepare_resource(model)
    logits = manager.execute(prepared, images)["logits"]
    wrapper = ModelWrapper(str(model))
    expected = [execute_onnx(wrapper, {"image": image[None]})["logits"] for image in images]
    assert np.array_equal(logits, np.concatenate(expected))
    spec = prepared.signature.inputs[0]
    assert (spec.name, spec.shape, spec.dtype, spec.datatype) == ("image", (1, 64), "float32", "UINT5")


def test_bytes_and_wrappers_are_resources_too(manager, model, images):
    expected = manager.execute(manager.prepare_resource(model), images[:1])["logits"]
    for resource in (model.read_bytes(), ModelWrapper(str(model)), onnx.load(model)):
        assert np.array_equal(
            manager.execute(manager.prepare_resource(resource), images[:1])["logits"], expected
        )


def test_inner_tensors_are_those_of_qonnx(manager, model, images):
    prepared = manager.prepare_resource(model)
    whole = manager.execute(prepared, images, keep=None)
    context = execute_onnx(ModelWrapper(str(model)), {"image": images[1:2]}, return_full_exec_context=True)
    assert next(iter(whole)) == "logits"
    assert {"image", "logits"} < set(whole) <= set(context)
    for name, tensor in whole.items():
        assert np.array_equal(tensor[1:2], context[name]), name
    some = manager.execute(prepared, images, keep=["fc1"])
    assert list(some) == ["logits", "fc1"]
    assert np.array_equal(some["fc1"], whole["fc1"])


@pytest.mark.slow
def test_the_weights_are_not_held_once_for_each_run(manager, model, images):
    weights = sum(4 * np.prod(tensor.dims) for tensor in onnx.load(model).graph.initializer)
    many = np.concatenate([images] * 10)
    prepared = manager.prepare_resource(model)
    manager.execute(prepared, images, keep=None)  # what is imported is not counted
    tracemalloc.start()
    whole = manager.execute(prepared, many, keep=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * sum(stack.nbytes for stack in whole.values()) + 12 * weights


def test_a_tensor_that_is_not_there_is_told(manager, model, images):
    with pytest.raises(
        InputError, match=r"^there is no tensor 'fc9' to keep; the tensors are image, centre, "
    ):
        manager.execute(manager.prepare_resource(model), images, keep=["fc9"])


def test_its_capabilities(manager):
    promised = manager.active.get_capabilities()
    assert promised == targets.Capabilities(bit_exact=True, intermediates=True)


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        ("nowhere.onnx", "there is no file nowhere.onnx"),
        ("/dev/null", "/dev/null is a pipe or a device, and a model is an .onnx file"),
        (5, "a model must be the path of an .onnx file, its bytes or a QONNX ModelWrapper, not a int"),
    ],
)
def test_what_is_no_model_is_told(manager, resource, told):
    with pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource(resource)
    assert str(error.value).endswith(told)


def test_a_file_that_is_no_model_is_told(manager, tmp_path):
    (tmp_path / "text.onnx").write_text("this is text")
    path = tmp_path / "text.onnx"
    with pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource(path)
    assert str(error.value).startswith(
        f"target 'reference' cannot execute {path}: {path} is not an ONNX file: it holds"
    )
    with pytest.raises(UnsupportedResourceError, match=r"is a folder, and a model is an .onnx file"):
        manager.prepare_resource(tmp_path)


def test_it_takes_no_configuration(manager, model):
    with pytest.raises(TargetError) as error:
        manager.prepare_resource(model, config={"threads": 4})
    assert str(error.value) == "reference takes no settings, not 'threads'"


def test_another_device_is_told():
    with pytest.raises(ValueError, match=r"^target 'reference' has no device 1; it has 0$"):
        targets.init("reference:1")


def test_a_scalar_input_has_a_value_for_each_run(manager):
    nodes = [onnx.helper.make_node("Add", ["x", "s"], ["y"])]
    shapes = {"x": [1, 2], "s": [], "y": [1, 2]}
    x, s, y = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "scalar", [x, s], [y]))
    prepared = manager.prepare_resource(model.SerializeToString())
    inputs = {"x": np.ones((2, 2), np.float32), "s": np.asarray([1, 2], np.float32)}
    assert manager.execute(prepared, inputs)["y"].tolist() == [[2, 2], [3, 3]]
