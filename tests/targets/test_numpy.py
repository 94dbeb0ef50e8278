"""The target `numpy`: results of the reference, any batch, nothing imported in a second process."""

import importlib.resources
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import InputError, ModelError, UsageError
from brainsmith.targets.numpy import NumpyExecution
from tests.build import graphs
from tests.execution.program.one_node import expected

DIGITS = Path(__file__).parents[2] / "examples/digits"

SECOND_PROCESS = """
import json, sys
import numpy as np
from brainsmith.targets.numpy import NumpyExecution
target = NumpyExecution()
prepared = target.prepare_resource(sys.argv[1])
x = np.load(sys.argv[2])
y = target.execute(prepared, x.reshape(-1, *prepared.signature.inputs[0].shape[1:]))
loaded = [name for name in ("onnx", "qonnx", "onnxruntime") if name in sys.modules]
print(json.dumps([loaded, {name: array.tolist() for name, array in y.items()}]))
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def target():
    return NumpyExecution()


@pytest.mark.parametrize("name", ["mlp", "cnn"])
@pytest.mark.slow
def test_every_tensor_of_a_network_is_that_of_the_reference(target, name):
    model = ModelWrapper(str(DIGITS / f"{name}.onnx"))
    prepared = target.prepare_resource(DIGITS / f"{name}.onnx")
    (spec,) = prepared.signature.inputs
    inputs = np.load(DIGITS / f"digits_{name}_x.npy")[:6].reshape(-1, *spec.shape[1:]).astype(spec.dtype)
    kept = target.execute(prepared, inputs, keep=None)
    assert len(kept) > 8
    found = expected(model, {spec.name: inputs[:, None]})
    for output, reference in found.items():
        np.testing.assert_array_equal(kept[output], reference[:, 0])


@pytest.mark.parametrize("samples", [1, 2, 5])
@pytest.mark.slow
def test_the_first_axis_is_any_multiple_of_the_batch(target, samples):
    prepared = target.prepare_resource(graphs.quant_mlp())
    inputs = graphs.samples(graphs.quant_mlp())
    whole = target.execute(prepared, inputs)["m1"]
    np.testing.assert_array_equal(target.execute(prepared, {"x": inputs[:samples]})["m1"], whole[:samples])
    assert whole.shape == (len(inputs), 3)


@pytest.mark.slow
def test_a_second_process_imports_neither_onnx_nor_qonnx(target):
    model, inputs = DIGITS / "mlp.onnx", DIGITS / "digits_mlp_x.npy"
    prepared = target.prepare_resource(model)
    command = [sys.executable, "-c", SECOND_PROCESS, str(model), str(inputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    loaded, found = json.loads(done.stdout)
    assert loaded == []
    mine = target.execute(prepared, np.load(inputs).reshape(-1, *prepared.signature.inputs[0].shape[1:]))
    assert found == {name: array.tolist() for name, array in mine.items()}


@pytest.mark.slow
def test_paths_bytes_and_objects_are_one_model(target):
    file = DIGITS / "mlp.onnx"
    inputs = np.load(DIGITS / "digits_mlp_x.npy")[:3]
    resources = (file, str(file), file.read_bytes(), ModelWrapper(str(file)))
    found = [target.execute(target.prepare_resource(resource), inputs)["logits"] for resource in resources]
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.slow
def test_faithful_is_another_program(target):
    model = graphs.quant_mlp()
    fast, faithful = target.prepare_resource(model), target.prepare_resource(model, {"faithful": True})
    functions = [{i.function for i in prepared.payload.instructions} for prepared in (fast, faithful)]
    assert "foreign.node" in functions[1] - functions[0]
    inputs = graphs.samples(model)
    np.testing.assert_allclose(
        target.execute(fast, inputs)["m1"], target.execute(faithful, inputs)["m1"], rtol=1e-6
    )


@pytest.mark.slow
def test_eight_threads_mix_nothing(target):
    prepared = target.prepare_resource(DIGITS / "mlp.onnx")
    inputs = np.load(DIGITS / "digits_mlp_x.npy")[:64]
    whole = target.execute(prepared, inputs)["logits"]

    def one(at):
        found = target.execute(prepared, inputs[at % 64 : at % 64 + 1])["logits"]
        return np.array_equal(found, whole[at % 64 : at % 64 + 1])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(one, range(400)))


def test_wrong_inputs(target):
    prepared = target.prepare_resource(DIGITS / "mlp.onnx")
    with pytest.raises(InputError) as caught:
        target.execute(prepared, np.zeros((2, 65), np.float32))
    assert str(caught.value) == "input 'image' must have shape (n, 64), not (2, 65)"
    with pytest.raises(
        InputError, match=r"^there is no tensor 'nothing' to keep; the tensors are centre, image_quant, "
    ):
        target.execute(prepared, np.zeros((2, 64), np.float32), keep=["nothing"])


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"speed": 1}, "numpy takes the settings faithful, not 'speed'"),
        ({"faithful": 1}, "faithful of numpy must be true or false, not 1"),
    ],
)
def test_wrong_configurations(target, config, text):
    with pytest.raises(UsageError) as caught:
        target.prepare_resource(DIGITS / "mlp.onnx", config)
    assert str(caught.value) == text


def test_what_is_no_model(target, tmp_path):
    (tmp_path / "text.onnx").write_text("no model")
    for resource, text in (
        (
            tmp_path / "text.onnx",
            f"{tmp_path}/text.onnx is not an ONNX file: it holds no ONNX model that can be read",
        ),
        (tmp_path / "none.onnx", f"model {tmp_path}/none.onnx does not exist; {tmp_path} has text.onnx"),
        (b"", "the model is not an ONNX file: it has no IR version, operator set or graph"),
        (3, "a model must be the path of an .onnx file, its bytes or a ModelWrapper, not a int"),
    ):
        with pytest.raises(ModelError) as caught:
            target.prepare_resource(resource)
        assert str(caught.value) == text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nn_resize", "subpixel"])
def test_a_real_network_with_its_real_input(target, kind):
    """At most one value in 10,000 moves by a level (1/255): a float error of the last bit before it is rounded."""
    folder = Path(str(importlib.resources.files("qonnx"))) / "data/onnx/bsd300x3-espcn"
    tensor = onnx.TensorProto.FromString((folder / "test_data/input_0.pb").read_bytes())
    image = onnx.numpy_helper.to_array(tensor)
    prepared = target.prepare_resource(folder / kind / "quant_model.onnx")
    (name,) = [spec.name for spec in prepared.signature.inputs]
    found = target.execute(prepared, image)
    model = ModelWrapper(str(folder / kind / "quant_model.onnx"))
    for output, reference in expected(model, {name: image[None]}).items():
        apart = np.abs(found[output] - reference[0])
        assert apart.max() <= 1.001 / 255 * np.abs(reference).max()
        assert (apart > 1e-6).mean() <= 1e-4


@pytest.mark.parametrize(
    ("op_type", "attributes", "constant"),
    [
        ("Identity", {}, None),
        pytest.param("Reshape", {}, [1, 4], marks=pytest.mark.slow),
        ("Expand", {}, [3, 4]),
        pytest.param("Transpose", {"perm": [1, 0]}, None, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_results_are_the_callers_own(target, op_type, attributes, constant):
    inputs = ["x"] if constant is None else ["x", "c"]
    nodes = [onnx.helper.make_node(op_type, inputs, [name], **attributes) for name in ("y", "z")]
    tensors = [] if constant is None else [onnx.numpy_helper.from_array(np.asarray(constant, np.int64), "c")]
    shape = {"Expand": [3, 4], "Transpose": [4, 1]}.get(op_type, [1, 4])
    values = [
        onnx.helper.make_tensor_value_info(n, 1, s) for n, s in (("x", [1, 4]), ("y", shape), ("z", shape))
    ]
    graph = onnx.helper.make_graph(nodes, "views", values[:1], values[1:], tensors)
    prepared = target.prepare_resource(onnx.helper.make_model(graph).SerializeToString())
    x = np.ones((2, 4), np.float32)
    found = target.execute(prepared, x)
    found["y"] += 5
    assert (found["z"] == 1).all()
    assert (x == 1).all()
    assert (target.execute(prepared, x)["y"] == 1).all()


def test_a_model_that_cannot_be_compiled_is_not_supported(target, tmp_path):
    (tmp_path / "text.onnx").write_text("no model")
    assert target.supports(tmp_path / "text.onnx") == (
        f"{tmp_path}/text.onnx is not an ONNX file: it holds no ONNX model that can be read"
    )
    file = DIGITS / "mlp.onnx"
    assert target.supports(file) == ""
    first = target.prepare_resource(file).payload
    assert target.prepare_resource(file).payload is not first  # what was asked about is handed over once
