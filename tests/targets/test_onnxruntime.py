"""The target onnxruntime: the digits networks, a real super-resolution network, a second process, what is refused."""

import re
import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.build.config import StepConfig
from brainsmith.errors import InputError, UnsupportedResourceError, UsageError
from brainsmith.plugins import steps
from brainsmith.targets import Capabilities, ResourceManager
from brainsmith.targets.onnxruntime import OnnxRuntime
from tests.execution.program.single_node import one_node

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
NETWORKS = ("mlp", "cnn", "residual", "binary_mlp")
FRONT_END = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold")
ESPCN = files("qonnx") / "data" / "onnx" / "bsd300x3-espcn"
LEVEL = 1 / 255


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def images(name):
    return np.load(DIGITS / f"digits_{'cnn' if name in ('cnn', 'residual') else 'mlp'}_x.npy").astype(
        np.float32
    )


def one_by_one(model, x):
    """Return what QONNX gives for each image by itself."""
    name, shape = model.graph.input[0].name, model.get_tensor_shape(model.graph.input[0].name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [execute_onnx(model, {name: image.reshape(shape)}) for image in x]
    out = model.graph.output[0].name
    return np.concatenate([found[out] for found in results])


def run(resource, x, config=None, **more):
    target = OnnxRuntime()
    return target.execute(target.prepare_resource(resource, config), x, **more)


@pytest.mark.parametrize(
    "name", ["cnn", *(pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS if name != "cnn")]
)
@pytest.mark.slow
def test_digits(name):
    model = ModelWrapper(str(DIGITS / f"{name}.onnx"))
    shape = model.get_tensor_shape(model.graph.input[0].name)
    x = images(name).reshape(-1, *shape[1:])
    (found,) = run(DIGITS / f"{name}.onnx", x).values()
    assert len(found) == len(x) == 360
    np.testing.assert_array_equal(found[:6], one_by_one(model, x[:6]))
    labels = found.argmax(axis=1) if found.shape[1] > 1 else found[:, 0]
    assert (labels == np.load(DIGITS / "digits_y.npy")).mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_digits_as_hardware(name, tmp_path):
    """After each step of the front end, all labels are those of the network; the inner tensors are the reference's."""
    from brainsmith.execution.execute import Executor

    original = ModelWrapper(str(DIGITS / f"{name}.onnx"))
    x = images(name)
    wanted = _labels(
        run(original, x.reshape(-1, *original.get_tensor_shape(original.graph.input[0].name)[1:]))
    )
    model = original
    for step in FRONT_END:
        model = getattr(steps, step)(model, StepConfig(tmp_path, fpga_part="xc7z020clg400-1"))
        given = model.graph.input[0].name
        shape = tuple(model.get_tensor_shape(given))
        laid_out = x.reshape(-1, *original.get_tensor_shape(original.graph.input[0].name)[1:]).reshape(
            -1, *shape[1:]
        )
        found = run(model, laid_out, keep=None)
        np.testing.assert_array_equal(_labels(found), wanted)
        kept = frozenset(found)
        reference = Executor(model).run({given: laid_out[:5].reshape(5, *shape)}, keep=kept)
        for tensor, stack in reference.items():
            if tensor in found:
                part = found[tensor][: 5 * stack.shape[1]].reshape(stack.shape)
                np.testing.assert_allclose(part, stack, rtol=1e-6, atol=1e-6, err_msg=f"{step}: {tensor}")


def _labels(found):
    array = next(iter(found.values()))
    return array.reshape(len(array), -1).argmax(axis=1) if array.shape[-1] > 1 else array.reshape(-1)


@pytest.mark.parametrize("form", ["subpixel", pytest.param("nn_resize", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_super_resolution(form):
    """At most one pixel in 10,000 differs, by one of 255 levels: a sum that falls between two may fall to either."""
    resource = str(ESPCN / form / "quant_model.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from qonnx.util.cleanup import cleanup_model

        model = cleanup_model(ModelWrapper(resource))
    image = numpy_helper.to_array(onnx.load_tensor(str(ESPCN / "test_data" / "input_0.pb")))
    wanted = one_by_one(model, image[None])
    (found,) = run(resource, image).values()
    assert found.shape == wanted.shape == (1, 3, 256, 256)
    distance = np.abs(found - wanted)
    assert distance.max() <= LEVEL + 1e-6
    assert (distance > 0).mean() <= 1e-4


@pytest.mark.slow
def test_paths_bytes_and_models_are_the_same():
    path = DIGITS / "mlp.onnx"
    x = images("mlp")[:7].reshape(7, 64)
    forms = [
        run(form, x)
        for form in (path, str(path), path.read_bytes(), ModelWrapper(str(path)), onnx.load(path))
    ]
    for found in forms[1:]:
        np.testing.assert_array_equal(found["logits"], forms[0]["logits"])


@pytest.mark.slow
def test_a_second_process_imports_neither_onnx_nor_qonnx(tmp_path):
    x = images("mlp")[:5].reshape(5, 64)
    found = run(DIGITS / "mlp.onnx", x)
    code = (
        "import sys, numpy as np\n"
        "from brainsmith.targets.onnxruntime import OnnxRuntime\n"
        "target = OnnxRuntime()\n"
        f"prepared = target.prepare_resource({str(DIGITS / 'mlp.onnx')!r})\n"
        "assert not {'onnx', 'qonnx', 'finn'} & set(sys.modules)\n"
        "x = np.load(sys.argv[1])\n"
        "np.save(sys.argv[2], target.execute(prepared, x)['logits'])\n"
    )
    given, computed = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(given, x)
    subprocess.run([sys.executable, "-c", code, str(given), str(computed)], check=True)
    np.testing.assert_array_equal(np.load(computed), found["logits"])


@pytest.mark.slow
def test_the_manager_runs_it():
    x = images("cnn")[:9]
    with ResourceManager({"device": "onnxruntime"}).initialize() as manager:
        prepared = manager.prepare_resource(str(DIGITS / "cnn.onnx"), config={"intra_op_threads": 1})
        found = manager.execute(prepared, x)
    np.testing.assert_array_equal(found["label"], run(DIGITS / "cnn.onnx", x)["label"])


@pytest.mark.slow
def test_what_it_promises():
    assert OnnxRuntime().get_capabilities() == Capabilities(
        bit_exact=True, batch=True, intermediates=True, concurrent=True
    )
    assert OnnxRuntime.metadata().priority == 50
    assert OnnxRuntime.device_ids() == (0,)


def test_what_it_supports(tmp_path):
    target = OnnxRuntime()
    assert target.supports(str(DIGITS / "mlp.onnx")) == ""
    reason = (
        "node 'node' (GenericPartition) cannot be written with standard ONNX operators: operator "
        "GenericPartition of domain qonnx.custom_op.general has no form in standard ONNX"
    )
    model = one_node("GenericPartition", {"x": (1, 2)}, {"y": (1, 2)}, model="inner.onnx")
    assert target.supports(model) == target.supports(model) == reason
    with pytest.raises(UnsupportedResourceError) as caught:
        target.prepare_resource(model)
    assert str(caught.value) == reason
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"nothing")
    assert target.supports(broken) == f"{broken} is not an ONNX file: it holds no ONNX model that can be read"
    assert target.supports(tmp_path) == f"{tmp_path} is a folder, and a model is an .onnx file"


@pytest.mark.slow
def test_what_onnx_runtime_itself_does_not_know_is_not_supported():
    model = one_node("Quant", {"x": (1, 2)}, {"y": (1, 2)}, {name: np.float32(2) for name in "szb"})
    model.graph.node.append(helper.make_node("NoSuchOperator", ["y"], ["w"], name="unknown"))
    model.graph.output[0].name = "w"
    assert "NoSuchOperator" in OnnxRuntime().supports(model) or "shapes" in OnnxRuntime().supports(model)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"threads": 2}, "onnxruntime takes the settings intra_op_threads, not 'threads'"),
        ({"intra_op_threads": 0}, "intra_op_threads of onnxruntime must be a whole number, 1 or more, not 0"),
        (
            {"intra_op_threads": True},
            "intra_op_threads of onnxruntime must be a whole number, 1 or more, not True",
        ),
    ],
)
def test_wrong_settings(config, message):
    with pytest.raises(UsageError) as caught:
        OnnxRuntime().prepare_resource(DIGITS / "mlp.onnx", config)
    assert str(caught.value) == message


def test_wrong_inputs():
    target = OnnxRuntime()
    prepared = target.prepare_resource(DIGITS / "mlp.onnx")
    with pytest.raises(InputError) as caught:
        target.execute(prepared, np.zeros((3, 63), np.float32))
    assert str(caught.value) == "input 'image' must have shape (n, 64), not (3, 63)"
    with pytest.raises(InputError) as caught:
        target.execute(prepared, np.zeros((3, 64), np.float32), keep=["fc9"])
    assert str(caught.value).startswith("there is no tensor 'fc9' to keep; the tensors are image, ")


def test_the_page_of_the_target(monkeypatch, capsys):
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    (block,) = re.findall(
        r"```python\n(.*?)```", (root / "docs" / "targets_onnxruntime.md").read_text(), re.DOTALL
    )
    exec(compile(block, "targets_onnxruntime.md", "exec"), {})
    assert capsys.readouterr().out == "(360, 1) (360, 16, 4, 4)\n"
