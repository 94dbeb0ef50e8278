"""Backends are chosen from the registry: by what is asked for, by what they say of a node, and by nothing else."""

import dataclasses
import subprocess
import sys

import pytest
from onnx import TensorProto, helper

from brainsmith.errors import BuildError, DuplicatePluginError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from qonnx.core.datatype import DataType  # noqa: E402
from qonnx.core.modelwrapper import ModelWrapper  # noqa: E402

from brainsmith.plugin.info import PluginInfo  # noqa: E402
from brainsmith.plugin.plugin_registry import Registry  # noqa: E402
from brainsmith.rtl.cores import unsupported  # noqa: E402
from brainsmith.transforms.specialize_kernels import Refusal, SpecializeKernels  # noqa: E402

DOMAIN = "finn.custom_op.fpgadataflow"


class Fork:
    """A kernel's backend without a word on what it supports."""


class ShortFork:
    """One that refuses all nodes with 2 outputs."""

    @classmethod
    def supports(cls, node, part=""):
        if len(node.onnx_node.output) == 2:
            return unsupported(f"it has 2 outputs, on {part}")
        return True


class MuteFork:
    """One that refuses and does not say why."""

    @classmethod
    def supports(cls, node, part=""):
        return False


class BrokenFork:
    """One that cannot say anything."""

    @classmethod
    def supports(cls, node, part=""):
        raise AssertionError(f"no {part} today")


def record(name, plugin_type="backend", framework="acme", kernel="finn:DuplicateStreams", cls=Fork, **extra):
    extra = {"domain": f"acme.{name.lower()}", **extra}
    if plugin_type == "kernel":
        return PluginInfo(
            name=name, type="kernel", framework=framework, reference=f"acme:{name}", extra=extra
        )
    return PluginInfo(
        name=name, type="backend", framework=framework, reference=f"{__name__}:{cls.__name__}", kernel=kernel,
        backend_type="rtl" if name.endswith("RTL") else "hls", extra=extra,
    )  # fmt: skip


@pytest.fixture
def registry():
    """FINN's kernels and backends, and what a test adds."""
    made = Registry()
    for info in get_plugin_manager().all_records()[0].records():
        if info.framework == "finn" and info.type in ("kernel", "backend"):
            made.register(info)
    return made


def forks(*outputs):
    """Return a model of forks one behind the other, each with so many outputs."""
    nodes, tail = [], "in"
    values = [helper.make_tensor_value_info("in", TensorProto.FLOAT, [1, 4])]
    for at, count in enumerate(outputs):
        names = [f"t{at}_{one}" for one in range(count)]
        values += [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in names]
        node = helper.make_node(
            "DuplicateStreams", [tail], names, name=f"fork{at}", domain=DOMAIN, backend="fpgadataflow", NumChannels=4,
            NumOutputStreams=count, inputDataType="INT4", outFIFODepths=[2] * count, PE=1, numInputVectors=[1],
            preferred_impl_style="",
        )  # fmt: skip
        nodes.append(node)
        tail = names[0]
    graph = helper.make_graph(nodes, "forks", values[:1], values[-1:], value_info=values[1:-1])
    model = ModelWrapper(helper.make_model(graph))
    for value in values:
        model.set_tensor_datatype(value.name, DataType["INT4"])
    return model


def choose(model, registry, preferences=None, part="a part"):
    transform = SpecializeKernels(part, preferences, registry)
    return model.transform(transform), transform.choices


def test_the_first_backend_that_can_be_a_node_is_taken(registry):
    registry.register(record("ShortRTL", cls=ShortFork))
    registry.register(record("LongRTL"))
    preferences = {"DuplicateStreams": ("ShortRTL", "acme:LongRTL", "hls")}
    model, choices = choose(forks(2, 3), registry, preferences)
    assert [choice.backend for choice in choices] == ["acme:LongRTL", "acme:ShortRTL"]
    assert [(node.domain, node.op_type) for node in model.graph.node] == [
        ("acme.longrtl", "Fork"),
        ("acme.shortrtl", "ShortFork"),
    ]
    first, second = choices
    assert first.refused == (Refusal("acme:ShortRTL", "it has 2 outputs, on a part"),)
    assert str(first) == (
        "Fork_0: acme:LongRTL (choice 2 of 3, listed for DuplicateStreams; "
        "not acme:ShortRTL, because it has 2 outputs, on a part)"
    )
    assert (second.node, second.layer, second.kernel, second.refused) == (
        "fork1", "ShortFork_0", "finn:DuplicateStreams", (),
    )  # fmt: skip
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.reason = "another"


def test_attributes_are_kept_but_for_the_preferred_style(registry):
    registry.register(record("LongRTL"))
    before = forks(2)
    model, _ = choose(before, registry)
    names = {attribute.name for attribute in before.graph.node[0].attribute}
    assert {attribute.name for attribute in model.graph.node[0].attribute} == names - {"preferred_impl_style"}
    assert before.graph.node[0].op_type == "DuplicateStreams"


def test_where_nothing_is_listed_rtl_comes_before_hls(registry):
    registry.register(record("AcmeHLS").replace(priority=90))
    registry.register(record("OneRTL", framework="project"))
    registry.register(record("TwoRTL").replace(priority=60))
    _, (choice,) = choose(forks(2), registry)
    assert choice.backend == "acme:TwoRTL"
    assert choice.reason == "choice 1 of 4, nothing is listed for DuplicateStreams: RTL first, then HLS"
    _, (choice,) = choose(forks(2), registry, {"*": ("hls",)})
    assert (choice.backend, choice.reason) == ("acme:AcmeHLS", "choice 1 of 2, listed for all kernels")


def test_a_node_may_prefer_a_type_itself(registry):
    registry.register(record("LongRTL"))
    model = forks(2)
    model.graph.node[0].attribute[-1].s = b"hls"
    assert model.graph.node[0].attribute[-1].name == "preferred_impl_style"
    _, (choice,) = choose(model, registry)
    assert (choice.backend, choice.reason) == (
        "finn:DuplicateStreams_hls",
        "choice 1 of 2, the node prefers hls",
    )


def test_all_nodes_without_a_backend_are_named_with_all_reasons(registry):
    registry.register(record("ShortRTL", cls=ShortFork))
    registry.register(record("MuteRTL", cls=MuteFork))
    registry.register(record("NowhereRTL", domain=""))
    listed = ("ShortRTL", "MuteRTL", "NowhereRTL")
    with pytest.raises(BuildError) as caught:
        choose(forks(2, 3, 2), registry, {"finn:DuplicateStreams": listed})
    reasons = (
        "    acme:ShortRTL: it has 2 outputs, on a part\n"
        "    acme:MuteRTL: it gave no reason\n"
        "    acme:NowhereRTL: it does not state the domain of its nodes: @backend(domain=...)\n"
        "    not listed: finn:DuplicateStreams_hls (hls)\n"
    )
    assert str(caught.value) == (
        "no allowed backend implements these layers on a part:\n"
        f"  fork0 (finn:DuplicateStreams), listed for DuplicateStreams:\n{reasons}"
        f"  fork2 (finn:DuplicateStreams), listed for DuplicateStreams:\n{reasons}"
        "  `kernels` in the blueprint lists the backends that a kernel may have; `brainsmith plugins list --type backend` "
        "shows all"
    )


def test_a_backend_whose_supports_raises_is_named_with_its_error(registry):
    registry.register(record("BrokenRTL", cls=BrokenFork))
    with pytest.raises(BuildError) as caught:
        choose(forks(2), registry, {"DuplicateStreams": ("BrokenRTL", "hls")})
    assert str(caught.value) == (
        "backend 'acme:BrokenRTL' failed when it was asked whether it supports node 'fork0' (finn:DuplicateStreams):\n"
        "  AssertionError: no a part today\n"
        "  a backend's `supports` returns the reason why it does not support a node, and raises nothing"
    )
    assert isinstance(caught.value.__cause__, AssertionError)


def test_a_backend_of_another_frameworks_kernel_of_the_same_name_is_never_taken(registry):
    registry.register(record("DuplicateStreams", "kernel", domain="acme.kernels"))
    registry.register(record("TheirsRTL", kernel="DuplicateStreams"))
    registry.register(record("DuplicateStreams_rtl", kernel="acme:DuplicateStreams"))
    _, (choice,) = choose(forks(2), registry)
    assert choice.backend == "finn:DuplicateStreams_hls"
    for name in ("TheirsRTL", "acme:DuplicateStreams_rtl", "DuplicateStreams_rtl"):
        with pytest.raises(BuildError) as caught:
            choose(forks(2), registry, {"DuplicateStreams": (name,)})
        assert str(caught.value) == (
            f"kernel 'finn:DuplicateStreams' has no backend {name!r}; it has finn:DuplicateStreams_hls"
        )
    with pytest.raises(BuildError, match="it has no such backend"):
        choose(forks(2), registry, {"*": ("rtl",)})


def test_a_second_time_there_is_nothing_to_choose(registry):
    model, choices = choose(forks(2), registry)
    assert [choice.layer for choice in choices] == [model.graph.node[0].name]
    again, none = choose(model, registry)
    assert none == ()
    assert again.model == model.model


NO_OTHERS = """
import sys
from tests.transforms.test_specialize_kernels import choose, forks
from brainsmith.plugin import get_plugin_manager
registry = get_plugin_manager().all_records()[0]
_, (choice,) = choose(forks(2), registry, {"DuplicateStreams": ("rtl", "hls")}, "xczu7ev-ffvc1156-2-e")
assert choice.backend == "brainsmith:DuplicateStreamsRTL"
print(sorted(name for name in sys.modules if name.startswith("brainsmith.backends.")))
"""


@pytest.mark.slow
def test_only_what_is_asked_is_imported():
    done = subprocess.run([sys.executable, "-c", NO_OTHERS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['brainsmith.backends.rtl', 'brainsmith.backends.rtl.duplicate_streams_rtl']\n"


def test_a_node_type_that_two_kernels_claim_is_nobody_s(registry):
    registry.register(record("Mine", "kernel", domain=DOMAIN, op_type="DuplicateStreams"))
    with pytest.raises(DuplicatePluginError) as caught:
        choose(forks(2), registry)
    first, *places = str(caught.value).splitlines()
    assert first == f"node type 'DuplicateStreams' of domain {DOMAIN!r} is defined twice:"
    assert [line.partition(" at ")[0] for line in places] == [
        "  kernel acme:Mine",
        "  kernel finn:DuplicateStreams",
    ]
