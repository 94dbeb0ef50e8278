"""A project's kernel that says in its own file how it is executed: batched like ours; without, as its Python model."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.errors import BuildError, ModelError
from brainsmith.execution.execute import Executor
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.execution.semantics import own_methods
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.plugin.node_claims import op_type_of
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.own_kernel import MODEL, SEMANTICS, sum_pairs
from tests.execution.program.single_node import is_foreign, one_node, run_reference
from tests.plugin.installed import Site

prepare_finn()
X = np.random.default_rng(0).integers(-8, 8, (5, 1, 3, 8)).astype(np.float32)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write the plugin of a project; return the function."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "plugins" / "sum_pairs.py").write_text(text)
        reset_plugin_system()

    yield write
    monkeypatch.undo()
    reset_plugin_system()


def assert_runs_right(model, foreign):
    program = lower(runnable_copy(model))
    assert is_foreign(program) == foreign
    np.testing.assert_array_equal(program.run({"x": X})["y"], run_reference(model, {"x": X})["y"])
    return program


def test_a_kernel_with_semantics_runs_batched_on_both_targets(project):
    project(MODEL + SEMANTICS)
    program = assert_runs_right(sum_pairs(), foreign=False)
    assert [made.function for made in program.instructions] == [
        "datatype_checks.annotated", "shapes.reshape", "reductions.reduce", "arithmetic.apply",
    ]  # fmt: skip
    assert any(name.endswith(".sum_pairs") for name in program.modules)
    assert_rewritten_right(sum_pairs(), x=X)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a distribution with the kernel."""
    Site(tmp_path).install("acme", "1.0", {"kernel": "acme_sums"}, acme_sums=MODEL + SEMANTICS)
    monkeypatch.syspath_prepend(str(tmp_path))
    reset_plugin_system()
    yield
    monkeypatch.undo()
    sys.modules.pop("acme_sums", None)  # another test would be told that its working folder changed
    reset_plugin_system()


@pytest.mark.usefixtures("installed")
def test_the_kernel_of_an_installed_distribution_runs_batched_as_well():
    program = assert_runs_right(sum_pairs(), foreign=False)
    assert "acme_sums" in program.modules
    assert_rewritten_right(sum_pairs(), x=X)


@pytest.mark.slow
def test_a_kernel_without_semantics_runs_as_its_python_model(project):
    project(MODEL)
    assert_runs_right(sum_pairs(), foreign=True)
    with pytest.raises(ModelError) as caught:
        rewrite(sum_pairs())
    assert str(caught.value) == (
        "node 'node' (SumPairsKernel) cannot be written with standard ONNX operators: operator "
        "SumPairsKernel of domain brainsmith.kernels has no form in standard ONNX"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("says", "calls"), [("''", 1), ("'it adds them'", 5)])
def test_a_python_model_takes_several_runs_at_once_if_it_says_so(project, says, calls):
    project(f"{MODEL}\n    def mixes_runs(self, node):\n        return {says}\n")
    program = assert_runs_right(sum_pairs(), foreign=True)
    from brainsmith.kernels import SumPairsKernel

    seen, execute = [], SumPairsKernel.execute_node
    SumPairsKernel.execute_node = lambda self, *given: (seen.append(1), execute(self, *given))
    program.run({"x": X})
    assert len(seen) == calls


def test_a_failure_of_its_code_names_the_node(project):
    project(MODEL + "\n    def to_onnx(self, node, emit):\n        return 1 / 0\n")
    with pytest.raises(ModelError) as caught:
        rewrite(sum_pairs())
    assert str(caught.value) == (
        "node 'node' (SumPairsKernel) cannot be written with standard ONNX operators: division by zero"
    )


@pytest.mark.slow
def test_a_backend_runs_as_its_kernel_unless_it_is_to_simulate():
    stated = {"in_shape": [1, 2, 4], "out_shape": [1, 2, 2], "starts": [0, 0, 1], "sizes": [1, 2, 2]}
    for mode, foreign in (("", False), ("python", False), ("rtlsim", True)):
        model = one_node(
            "CropRTL", {"x": (1, 2, 4)}, {"y": (1, 2, 2)}, domain="brainsmith.backends.rtl", inputDataType="INT4",
            datatypes={"x": "INT4"}, exec_mode=mode, **stated,
        )  # fmt: skip
        assert is_foreign(lower(runnable_copy(model))) == foreign


REPLACED = """

@kernel(name="SumMore", domain="brainsmith.kernels", requires=("finn-plus",))
class SumMoreKernel(SumPairsKernel):
    \"\"\"Another Python model.\"\"\"

    def execute_node(self, context, graph):
        super().execute_node(context, graph)
        context[self.onnx_node.output[0]] += 1
"""


@pytest.mark.slow
def test_semantics_of_a_python_model_that_a_class_replaces_are_not_its_own(project):
    project(MODEL + SEMANTICS + REPLACED)
    assert_runs_right(sum_pairs(), foreign=False)
    model = sum_pairs()
    model.graph.node[0].op_type = "SumMoreKernel"
    assert_runs_right(model, foreign=True)
    with pytest.raises(ModelError, match="operator SumMoreKernel of domain"):
        rewrite(model)


@pytest.mark.slow
def test_our_kernels_and_their_backends_have_semantics():
    records = get_plugin_manager().all_records()[0]
    ours = [*records.records("kernel"), *records.records("backend")]
    nodes = {
        op_type_of(info): helper.make_node(op_type_of(info), ["x"], ["y"], domain=info.extra["domain"])
        for info in ours
        if info.framework == "brainsmith" and not info.extra["domain"].startswith("finn.")
    }
    assert len(nodes) == 15
    for node in nodes.values():
        assert {"to_program", "to_onnx"} <= set(own_methods(node, 1))


RUN = """
import sys
import numpy as np
from brainsmith.runtime.resource_manager import ResourceManager
with ResourceManager({"device": sys.argv[1]}) as manager:
    prepared = manager.prepare_resource("model.onnx")
    np.save("y.npy", manager.execute(prepared, np.load("x.npy"))["y"])
print(sorted({"onnx", "qonnx", "finn"} & set(sys.modules)), any(name.endswith("sum_pairs") for name in sys.modules))
"""


@pytest.mark.slow
def test_what_is_kept_needs_no_kernel_and_an_edited_kernel_is_believed(tmp_path):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    kernel = tmp_path / "plugins" / "sum_pairs.py"
    kernel.write_text(MODEL + SEMANTICS)
    sum_pairs().save(str(tmp_path / "model.onnx"))
    np.save(tmp_path / "x.npy", X.reshape(-1, 3, 8))
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(target):
        """Return the outputs, and what was imported."""
        command = [sys.executable, "-c", RUN, target]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stderr
        return np.load(tmp_path / "y.npy"), done.stdout

    expected = X[..., 0::2] + X[..., 1::2] + 3
    time.sleep(0.1)  # for the kernel to be older than what is kept of it
    for target in ("numpy", "onnxruntime"):
        for imported in ("['finn', 'onnx', 'qonnx'] True\n", "[] False\n"):
            result, printed = run(target)
            np.testing.assert_array_equal(result.reshape(expected.shape), expected)
            assert printed == imported
    kernel.write_text((MODEL + SEMANTICS).replace('self.get_nodeattr("offset")', "5"))
    for target in ("reference", "numpy", "onnxruntime"):
        np.testing.assert_array_equal(run(target)[0].reshape(expected.shape), expected + 2)


def test_verification_runs_semantics_that_agree_with_the_python_model(project):
    project(MODEL + SEMANTICS)
    right = run_reference(sum_pairs(), {"x": X})["y"]
    np.testing.assert_array_equal(Executor(sum_pairs()).run({"x": X})["y"], right)


def test_verification_refuses_semantics_that_differ_from_the_python_model(project):
    project(MODEL + SEMANTICS.replace('np.float32(self.get_nodeattr("offset"))', "np.float32(1)"))
    right = run_reference(sum_pairs(), {"x": X})["y"]
    with pytest.raises(BuildError) as caught:
        Executor(sum_pairs()).run({"x": X})
    place = f"at [0, 0, 0] is {right.flat[0] - 2:.9g} in the program and {right.flat[0]:.9g} in Python"
    assert str(caught.value) == (
        "node 'node' (SumPairsKernel): its `to_program` and its Python model (`execute_node`, `golden` or `forward`) "
        f"differ: tensor 'y' {place}\n  correct the one that is wrong; if they only round differently, call "
        "`node.rounds_differently()` in `to_program`: the Python model then verifies"
    )


def test_verification_believes_no_range_that_a_project_states(project):
    stated = "\n        node.prove(node.outputs[0], 0, 3)\n\n    def to_onnx"
    project(MODEL.replace('"INT16"', '"UINT2"') + SEMANTICS.replace("\n\n    def to_onnx", stated))
    model = sum_pairs()
    model.set_tensor_datatype("y", DataType["UINT2"])
    assert lower(runnable_copy(model)).run({"x": X})["y"].max() > 3
    with pytest.raises(BuildError, match=r"tensor 'y' is annotated as UINT2, but holds"):
        Executor(model).run({"x": X})
