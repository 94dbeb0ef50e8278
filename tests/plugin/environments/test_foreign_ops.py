"""Ops of another environment: found by their sources, nodes of QONNX's here, executed by the worker there."""

import os
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp, is_custom_op

from brainsmith.build import build
from brainsmith.errors import (
    AmbiguousPluginError,
    BuildError,
    ForeignPluginError,
    OpError,
    UntrustedPluginError,
)
from brainsmith.execution.execute import Executor
from brainsmith.graph.known_domains import domain_fault
from brainsmith.ops import execute_custom_op
from brainsmith.plugin.environments.environment_worker import (
    EnvironmentWorker,
    close_workers,
    worker_of,
)
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import ops
from brainsmith.plugins import transforms as tfm
from tests.build import graphs
from tests.plugin.environments.other_pythons import (
    OPS,
    install_plugins,
    name_environments,
    sharing_environment,
    virtual_environment,
)

X = np.random.default_rng(3).normal(size=(40, 1, 6)).astype(np.float32)
FACTOR = np.random.default_rng(4).normal(size=6).astype(np.float32)
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}.0"


@pytest.fixture
def bare(project, tmp_path, no_frameworks):
    """An environment in which there are ops and nothing else; and another one, not named yet."""
    roots = [virtual_environment(tmp_path / name, PYTHON) for name in ("bare", "zeta")]
    for root in roots:
        install_plugins(packages(root), OPS, "acme_ops")
    name_environments(project, acme=roots[0])
    return roots


def packages(root):
    (found,) = root.glob("lib/*/site-packages")
    return found


def biased(mode="", domain="acme_ops", op_type="Bias", opset=1):
    """Return a model whose first node is a foreign op: it multiplies by a constant, and adds 0.5."""
    node = helper.make_node(op_type, ["x", "factor"], ["b"], name="bias", domain=domain)
    if op_type == "Bias":
        node.attribute.extend([helper.make_attribute("by", 0.5), helper.make_attribute("mode", mode)])
    last = helper.make_node("Relu", ["b"], ["y"], name="last")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 6)) for name in "xy"]
    factor = helper.make_tensor("factor", TensorProto.FLOAT, (6,), FACTOR)
    graph = helper.make_graph([node, last], "g", ends[:1], ends[1:], [factor])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, opset)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))


def local_class():
    """Return the same op as a class of this process."""
    module = types.ModuleType("op_of_this_process")
    exec(OPS.partition("class _Powers")[0].replace("@op\n", ""), module.__dict__)
    return module.Bias


def test_an_op_is_listed_and_its_class_is_made_of_its_record(bare):
    info = ops.get_info("acme:Bias")
    assert (info.framework, info.reference, info.environment) == ("acme", "acme@acme_ops:Bias", "acme")
    assert [one.qualified for one in get_plugin_manager().registry.records("op", framework="acme")] == [
        "acme:Bias", "acme:power", "acme:power_of_3",
    ]  # fmt: skip
    cls = ops.acme.Bias
    assert (cls.__name__, cls.__doc__, cls.__module__) == (
        "Bias",
        "Multiply, and add a number.",
        "acme@acme_ops",
    )
    assert worker_of(info).pid is None
    with pytest.raises(OpError) as caught:
        execute_custom_op("Bias", [X[0], FACTOR])
    assert str(caught.value) == "acme:Bias is a class of QONNX's nodes; it runs in a graph alone"


@pytest.mark.parametrize("domain", ["acme_ops", "brainsmith.ops"])
def test_qonnx_finds_it_by_the_module_there_and_by_its_name(bare, domain):
    assert (is_custom_op(domain), is_custom_op(domain, "Bias")) == (True, True)
    assert domain_fault(domain) == ""
    node = getCustomOp(biased(domain=domain).graph.node[0])
    assert (node.info, node.onnx_node.name) == (ops.get_info("acme:Bias"), "bias")


def test_qonnx_finds_it_by_the_domain_that_it_states_and_by_the_version_of_its_class(bare):
    assert not is_custom_op("acme_ops", "Power")
    nodes = [
        getCustomOp(biased(domain="acme.math", op_type="Power").graph.node[0], opset) for opset in (1, 2, 3)
    ]
    assert [node.info.name for node in nodes] == ["power", "power_of_3", "power_of_3"]
    assert not is_custom_op("acme.math", "Root")


def test_of_several_environments_that_which_has_precedence_is_meant(bare, project):
    def environment():
        get_plugin_manager().discover_plugins()
        return getCustomOp(biased().graph.node[0]).info.environment

    name_environments(project, beta=bare[0], alpha=bare[1])
    (packages(bare[0]) / "acme_ops" / "__init__.py").write_text(OPS.replace("@op\n", "@op(priority=60)\n"))
    assert environment() == "beta"
    name_environments(project, alpha=bare[1])
    assert environment() == "alpha"
    name_environments(project, alpha="[numpy]")
    get_plugin_manager().discover_plugins()
    assert (is_custom_op("acme_ops"), is_custom_op("acme_ops", "Bias")) == (False, False)


def test_where_only_the_names_of_environments_decide_a_node_must_say_which(bare, project):
    name_environments(project, beta=bare[0], alpha=bare[1])
    get_plugin_manager().discover_plugins()
    with pytest.raises(AmbiguousPluginError) as caught:
        getCustomOp(biased().graph.node[0])
    origins = [ops.get_info(f"{name}:Bias").origin for name in ("alpha", "beta")]
    assert str(caught.value) == (
        "a node acme_ops.Bias may mean the ops of 2 environments, with one priority and one version:\n"
        f"  alpha:Bias ({origins[0]})\n  beta:Bias ({origins[1]})\n"
        "  say which by the node's domain: alpha.acme_ops or beta.acme_ops, or give one of them a higher priority= "
        "or version"
    )
    for environment in ("alpha", "beta"):
        domain = f"{environment}.acme_ops"
        assert (domain_fault(domain), is_custom_op(domain, "Bias")) == ("", True)
        assert getCustomOp(biased(domain=domain).graph.node[0]).info.environment == environment


def test_what_a_module_here_defines_is_meant_before_all(bare, monkeypatch):
    module = types.ModuleType("acme_ops")
    module.Bias = local_class()
    monkeypatch.setitem(sys.modules, "acme_ops", module)
    assert type(getCustomOp(biased().graph.node[0])) is module.Bias
    module.Bias.__name__ = "Other"
    get_plugin_manager().discover_plugins()


def test_a_domain_of_a_framework_is_not_added_to(bare):
    text = OPS.replace("acme.math", "qonnx.custom_op.general")
    install_plugins(packages(bare[0]), text, "more_ops")
    assert "acme:power" in [info.qualified for info in get_plugin_manager().registry.records("op")]
    assert not is_custom_op("qonnx.custom_op.general", "Power")


def test_a_domain_that_names_a_module_here_is_no_reason_to_import_it(bare, tmp_path, monkeypatch):
    (tmp_path / "somebodys.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = OPS.replace("acme.math", "somebodys")
    (packages(bare[0]) / "acme_ops" / "__init__.py").write_text(text)
    get_plugin_manager().discover_plugins()
    assert domain_fault("somebodys").startswith(
        "domain 'somebodys', for which QONNX would import the module 'somebodys'"
    )
    assert "somebodys" not in sys.modules


def test_an_op_that_is_not_trusted_is_no_node(bare, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_TRUST", "listed")
    with pytest.raises(UntrustedPluginError) as caught:
        is_custom_op("acme_ops", "Bias")
    file = packages(bare[0]) / "acme_ops" / "__init__.py"
    line = OPS[: OPS.index("@op")].count("\n") + 1
    assert str(caught.value) == (
        f"op 'acme:Bias' ({file}:{line}) is not trusted: {bare[0]} is not in the list of what is trusted: "
        f"brainsmith trust add {bare[0]}"
    )


def test_a_node_of_a_kernel_there_says_that_it_is_not_used(bare):
    text = "from brainsmith import kernel\nfrom x import Y\n\n@kernel(name='big', domain='acme.big')\nclass Big(Y): ...\n"
    install_plugins(packages(bare[0]), text, "kernels")
    model = biased(domain="acme.big", op_type="Big")
    model.set_tensor_shape("b", [1, 6])
    unused = (
        f"of another environment kernels and backends are not used: acme: Python {PYTHON} (only transforms, steps and "
        "ops are used, not kernel 'big' (nodes 'Big'))"
    )
    with pytest.raises(BuildError) as caught:
        Executor(model).run({"x": X})
    assert str(caught.value).startswith(
        "node 'bias' (Big) cannot be executed: operator 'Big' of domain 'acme.big' is defined by neither QONNX, FINN nor a "
        f"plugin that was found; {unused}"
    )
    with pytest.raises(LookupError) as missing:
        get_plugin_manager().get_instance("kernel", "acme:big")
    assert unused in str(missing.value)


def test_an_input_that_cannot_be_passed_is_an_error(bare):
    with pytest.raises(ForeignPluginError) as caught:
        getCustomOp(biased().graph.node[0]).execute_node({"x": object(), "factor": FACTOR}, biased().graph)
    assert str(caught.value) == (
        "node 'bias' (acme:Bias): an input holds a value of type object, which cannot be passed to environment 'acme'"
    )


@pytest.fixture
def asked(monkeypatch):
    """What is asked of workers, in their order; they are asked all the same."""
    found, call = [], EnvironmentWorker.call

    def noting(self, info, header, blobs, answer_cfg):
        found.append(header["do"])
        return call(self, info, header, blobs, answer_cfg)

    monkeypatch.setattr(EnvironmentWorker, "call", noting)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["acme_ops", "brainsmith.ops"])
def test_it_computes_what_its_class_computes_here_bit_for_bit_in_one_call(acme, asked, domain):
    model = biased(domain=domain).transform(tfm.InferShapes())
    assert model.get_tensor_shape("b") == [1, 6]
    here, expected = local_class()(model.graph.node[0]), []
    for x in X:
        context = {"x": x, "factor": FACTOR}
        here.execute_node(context, model.graph)
        expected.append(np.maximum(context["b"], 0))
    executor = Executor(model)
    asked.clear()
    found = executor.run({"x": X})["y"]
    assert (found.dtype, found.shape, found.tobytes()) == (np.float32, X.shape, np.stack(expected).tobytes())
    assert asked == ["execute"]
    assert execute_onnx(model, {"x": X[0]})["y"].tobytes() == expected[0].tobytes()
    large = np.concatenate([X] * 100)
    assert executor.run({"x": large})["y"].tobytes() == np.stack(expected * 100).tobytes()


@pytest.mark.slow
def test_attributes_are_those_of_now_whichever_file_of_the_package_they_are_stated_in(project, tmp_path):
    text = "from brainsmith import op\nfrom .base import Base\n\n\n@op\nclass Scale(Base):\n    pass\n"
    base = sharing_environment(tmp_path / "sharing", text) / "acme_plugins" / "base.py"
    stated = (
        "from qonnx.custom_op.base import CustomOp\n\n\nclass Base(CustomOp):\n    def get_nodeattr_types(self):\n"
        "        return {'by': ('i', False, 2)}\n"
    ) + "".join(
        f"\n    def {name}(self, *given):\n        pass\n"
        for name in ("make_shape_compatible_op", "infer_node_datatype", "execute_node", "verify_node")
    )
    base.write_text(stated)
    name_environments(project, acme=tmp_path / "sharing")
    operator = getCustomOp(helper.make_node("Scale", ["x"], ["y"], domain="acme_plugins"))
    try:
        assert operator.get_nodeattr("by") == 2
        base.write_text(stated.replace("False, 2", "False, 33"))
        assert operator.get_nodeattr("by") == 33
    finally:
        close_workers()


@pytest.mark.slow
def test_datatypes_are_inferred_and_attributes_are_those_of_the_class_there(acme, asked):
    model = biased().transform(tfm.InferShapes())
    model.set_tensor_datatype("x", DataType["INT3"])
    model = model.transform(tfm.InferDataTypes())
    assert model.get_tensor_datatype("b") == DataType["INT7"]
    node = getCustomOp(model.graph.node[0])
    asked.clear()
    assert node.get_nodeattr_types() == {
        "by": ("f", True, 0.0),
        "mode": ("s", False, "", {"", "die", "fail", "wait", "object", "shape"}),
        "axes": ("ints", False, [1, 2]),
    }
    assert (node.get_nodeattr("by"), node.get_nodeattr("mode"), node.get_nodeattr("axes")) == (
        0.5,
        "",
        [1, 2],
    )
    assert asked == ["attributes"]
    node.set_nodeattr("mode", "fail")
    assert (node.get_nodeattr("mode"), node.verify_node()) == ("fail", ["numpy is 1.26.4"])
    with pytest.raises(ValueError, match="mode = other not in"):
        node.set_nodeattr("mode", "other")


@pytest.mark.slow
def test_what_goes_wrong_in_an_op_names_node_line_and_environment(acme, old_environment):
    file = next(old_environment.glob("lib/*/site-packages/acme_ops/__init__.py"))
    line = OPS[: OPS.index("raise ValueError")].count("\n") + 1
    raised = f"node 'bias' (acme:Bias): ValueError: a bad axis ({file}:{line}), in environment 'acme'"
    with pytest.raises(ForeignPluginError) as caught:
        execute_onnx(biased("fail").transform(tfm.InferShapes()), {"x": X[0]})
    assert str(caught.value) == raised
    assert caught.value.__notes__[0].endswith('raise ValueError("a bad axis")\nValueError: a bad axis\n')
    with pytest.raises(BuildError) as failed:
        Executor(biased("fail")).run({"x": X})
    assert str(failed.value) == f"node 'bias' (Bias) cannot be executed: {raised}"
    with pytest.raises(BuildError) as failed:
        Executor(biased("object")).run({"x": X})
    assert str(failed.value) == (
        "node 'bias' (Bias) cannot be executed: node 'bias' (acme:Bias): TypeError: execute_node must give an array of "
        "numbers for output 'b', not object, in environment 'acme'"
    )
    with pytest.raises(BuildError) as failed:
        Executor(biased("shape")).run({"x": X})
    assert str(failed.value) == "tensor 'b' is declared with the shape [1, 6], but has [1, 5]"
    with pytest.raises(ForeignPluginError) as caught:
        execute_onnx(biased("shape").transform(tfm.InferShapes()), {"x": X[0]})
    assert str(caught.value) == (
        "node 'bias' (acme:Bias): execute_node gave output 'b' the shape [1, 5], where the model states [1, 6]"
    )


@pytest.mark.slow
def test_a_worker_that_dies_in_an_execution_is_named_and_the_next_one_goes_on(acme, capfd):
    worker = worker_of(ops.get_info("acme:Bias"))
    executor = Executor(biased())
    expected = executor.run({"x": X})["y"]
    with pytest.raises(BuildError) as caught:
        Executor(biased("die")).run({"x": X})
    assert str(caught.value) == (
        "node 'bias' (Bias) cannot be executed: the worker of environment 'acme' ended its process by SIGKILL in op "
        "'acme:Bias'; the next call starts a new one\n  it printed last:\n    the last words"
    )
    assert worker.pid is None
    assert executor.run({"x": X})["y"].tobytes() == expected.tobytes()
    waiting = Executor(biased("wait"))
    threading.Timer(1, lambda: os.kill(worker.pid, signal.SIGKILL)).start()
    with pytest.raises(
        BuildError, match="ended its process by SIGKILL in op 'acme:Bias'; the next call starts"
    ):
        waiting.run({"x": X})
    assert executor.run({"x": X})["y"].tobytes() == expected.tobytes()


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_ended(acme, old_environment):
    name_environments(acme, acme=f"{{python: {old_environment}, time_limit: 5}}")
    with pytest.raises(BuildError) as caught:
        Executor(biased("wait")).run({"x": X})
    assert str(caught.value) == (
        "node 'bias' (Bias) cannot be executed: the worker of environment 'acme' did not end within 5 s in op 'acme:Bias'; "
        "the next call starts a new one"
    )


@pytest.mark.slow
def test_one_graph_has_ops_of_two_environments(both, new_environment):
    text = "from acme_ops import Bias\nfrom brainsmith import op\n\n@op(domain='newer_ops')\nclass Third(Bias):\n"
    text += "    def verify_node(self):\n        return [Bias.verify_node(self)[0] + ' in newer']\n"
    install_plugins(packages(new_environment), text, "newer_ops")
    get_plugin_manager().discover_plugins()
    model = biased(domain="acme.acme_ops")  # both have it
    node = model.graph.node[1]
    node.CopyFrom(model.graph.node[0])
    node.name, node.domain, node.op_type, node.input[0], node.output[0] = (
        "third",
        "newer_ops",
        "Third",
        "b",
        "y",
    )
    model.model.opset_import.append(helper.make_opsetid("newer_ops", 1))
    found = Executor(model).run({"x": X})["y"]
    expected = (X * FACTOR + np.float32(0.5)) * FACTOR + np.float32(0.5)
    assert found.tobytes() == expected.tobytes()
    assert [getCustomOp(each).verify_node() for each in model.graph.node] == [
        ["numpy is 1.26.4"],
        ["numpy is 2.4.6 in newer"],
    ]


@pytest.mark.slow
def test_a_build_is_verified_with_it_and_its_source_is_in_the_keys(acme, old_environment):
    model = graphs.quant_mlp()
    for node in model.graph.node:
        node.input[:] = ["biased" if name == "x" else name for name in node.input]
    first = helper.make_node("Bias", ["x", "factor"], ["biased"], name="bias", domain="acme_ops", by=0.5)
    model.graph.node.insert(0, first)
    model.set_initializer("factor", FACTOR)
    model.model.opset_import.append(helper.make_opsetid("acme_ops", 1))
    model.save(str(acme / "m.onnx"))
    np.save(acme / "x.npy", X[:, 0])
    (acme / "b.yaml").write_text(
        "hw_compiler:\n  steps: [{transform: InferShapes}, {transform: GiveReadableTensorNames}]\n"
        "  verify: {inputs: x.npy}\n"
    )

    def run():
        return build(acme / "m.onnx", acme / "b.yaml", acme / "out")

    done = run()
    assert [(step.verified.samples, step.verified.mismatches, step.verified.reason) for step in done.steps] == [
        (40, 0, ""), (40, 0, ""),
    ]  # fmt: skip
    assert [step.reused for step in run().steps] == [True, True]
    file = next(old_environment.glob("lib/*/site-packages/acme_ops/__init__.py"))
    text = file.read_text()
    try:
        file.write_text(
            text.replace('np.float32(self.get_nodeattr("by"))', 'np.float32(self.get_nodeattr("by") + 1)')
        )
        changed = run()
    finally:
        file.write_text(text)
    assert [step.reused for step in changed.steps] == [False, False]
    assert [step.cache for step in changed.steps][:1] == [f"{file} changed"]


@pytest.mark.slow
def test_the_command_line_lists_it_and_runs_a_model_of_it(acme):
    biased().save(str(acme / "m.onnx"))
    np.save(acme / "x.npy", X[:, 0])

    def said(*words):
        command = [sys.executable, "-m", "brainsmith", *words]
        return subprocess.run(command, cwd=str(acme), capture_output=True, text=True, check=True).stdout

    assert "acme" in [
        line.split()[1] for line in said("plugins", "list", "--type", "op").splitlines() if "Bias" in line
    ]
    said("run", "m.onnx", "--target", "numpy", "--input", "x.npy", "--output", "y.npy")
    expected = np.maximum(X[:, 0] * FACTOR + np.float32(0.5), 0)
    assert np.load(acme / "y.npy").tobytes() == expected.tobytes()
