"""QONNX finds plugins by the domain and type of a node; two plugins of one type are an error for that type only."""

import importlib

import pytest
from onnx import helper
from qonnx.custom_op.registry import get_supported_versions, getCustomOp, is_custom_op

from brainsmith.errors import DuplicatePluginError, PluginLoadError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.health_check import find_duplicates
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.plugin.node_claims import claims
from brainsmith.plugin.operators import offer_operators, operators_in
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.source_check import check_sources

KERNEL = """\
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp

from brainsmith.plugin.core import kernel


@kernel(name="{name}", domain="{domain}"{more})
class {cls}(HWCustomOp):
    \"\"\"A kernel.\"\"\"
"""


def kernel_file(name, cls, domain="brainsmith.kernels", more=""):
    return KERNEL.format(name=name, cls=cls, domain=domain, more=more)


@pytest.fixture
def project(elsewhere):
    """Write plugins of a project; return the function."""
    (elsewhere / ".brainsmith").mkdir()
    (elsewhere / "plugins").mkdir()

    def write(name, text):
        path = elsewhere / "plugins" / name
        path.write_text(text)
        reset_plugin_system()
        return path

    yield write
    reset_plugin_system()


def domain(name):
    prepare_finn()
    return importlib.import_module(name)


def test_a_type_of_node_that_two_plugins_claim_is_an_error_when_it_is_looked_up(project):
    path = project("crop.py", kernel_file("Cut", "CropKernel"))
    kernels = domain("brainsmith.kernels")
    assert "CropKernel" in kernels.__all__
    assert kernels.ShuffleKernel.__name__ == "ShuffleKernel"
    with pytest.raises(DuplicatePluginError) as raised:
        kernels.CropKernel
    first, ours, theirs = str(raised.value).splitlines()
    assert first == "node type 'CropKernel' of domain 'brainsmith.kernels' is defined twice:"
    assert ours.startswith("  kernel brainsmith:Crop at ")
    assert theirs == f"  kernel project:Cut at {path}:6"


def test_a_framework_s_own_operator_is_not_taken_over(project):
    name = "finn.custom_op.fpgadataflow"
    project("pool.py", kernel_file("OurPool", "OurPool", name, ', op_type="Pool"'))
    module = domain(name)
    offer_operators(module)
    assert module.LabelSelect.__name__ == "LabelSelect"
    with pytest.raises(DuplicatePluginError, match=r"^node type 'Pool' of domain "):
        module.__getattr__("Pool")


def info(name, reference, framework="acme", **extra):
    return PluginInfo(
        name=name, type="kernel", framework=framework, reference=reference, origin=f"{reference}.py:1",
        extra={"domain": "acme.kernels", **extra},
    )  # fmt: skip


def test_one_plugin_twice_and_one_that_overrides_are_no_clash():
    one, two = info("A", "a:K"), info("A", "b:K", override=True)
    assert claims([one, one]) == {("acme.kernels", "K"): [one]}
    assert claims([one, two]) == {("acme.kernels", "K"): [two]}
    other = info("B", "c:K")
    assert claims([one, two, other]) == {("acme.kernels", "K"): [two, other]}


def test_health_names_both():
    found = find_duplicates([info("A", "a:K"), info("B", "b:K"), info("C", "b:L")])
    assert found == [
        {
            "plugin": "acme:B", "type": "kernel", "clash": True,
            "text": "node type 'K' of domain 'acme.kernels' is defined twice:\n"
            "  kernel acme:A at a:K.py:1\n  kernel acme:B at b:K.py:1",
        }
    ]  # fmt: skip


@pytest.mark.slow
def test_the_check_of_sources_names_both(project, manager):
    path = project("crop.py", kernel_file("Cut", "CropKernel"))
    manager.discover_plugins(modes=["full"])
    (problem,) = check_sources(str(path), manager.registry).problems
    assert str(problem).startswith(
        f"{path}:6: node type 'CropKernel' of domain 'brainsmith.kernels' is defined twice:\n  kernel brainsmith:Crop at "
    )


BROKEN = {
    "syntax": (kernel_file("Cut", "CutKernel", more=", version="), "{path}:6:"),
    "keyword": (
        kernel_file("Cut", "CutKernel", more=", colour=3"),
        "{path}:6: @kernel has no keyword 'colour'",
    ),
    "literal": (kernel_file("Cut", "CutKernel", more=", version=str(3)"), "{path}:6: "),
    "op_type": (
        kernel_file("Cut", "Cut", more=", op_type='CutKernel', colour=3"),
        "{path}:6: @kernel has no keyword 'colour'",
    ),
    "import": (
        kernel_file("Cut", "CutKernel").replace("from brainsmith.plugin.core import kernel", ""),
        "{path}:6: @kernel is not imported, so the file's plugins cannot be loaded: from brainsmith import kernel",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_qonnx_tells_of_the_problem_of_the_file_that_has_the_type(project, kind):
    text, said = BROKEN[kind]
    path = project("cut.py", text)
    domain("brainsmith.kernels")
    node = helper.make_node("CutKernel", ["x"], ["y"], domain="brainsmith.kernels")
    with pytest.raises(PluginLoadError) as raised:
        getCustomOp(node)
    first, second = str(raised.value).splitlines()[:2]
    assert first == (
        "domain 'brainsmith.kernels' has no operator 'CutKernel'; a file that may define it has a problem:"
    )
    assert second.startswith("  " + said.format(path=path))


@pytest.mark.slow
def test_other_types_are_found_or_not_as_without_a_broken_file(project):
    project("cut.py", BROKEN["syntax"][0])
    kernels = domain("brainsmith.kernels")
    assert kernels.CropKernel.__name__ == "CropKernel"
    assert not hasattr(kernels, "NoSuchKernel")
    with pytest.raises(KeyError):
        getCustomOp(helper.make_node("NoSuchKernel", ["x"], ["y"], domain="brainsmith.kernels"))


@pytest.mark.slow
def test_a_type_that_qonnx_would_take_for_a_version_is_whole(project):
    project("cut.py", kernel_file("Cut", "Cut_v2"))
    domain("brainsmith.kernels")
    assert get_supported_versions("brainsmith.kernels", "Cut_v2") == [1]
    assert not is_custom_op("brainsmith.kernels", "Cut")


@pytest.mark.slow
def test_qonnx_forgets_a_kernel_that_is_no_more(project):
    path = project("cut.py", kernel_file("Cut", "Cut"))
    domain("brainsmith.kernels")
    assert get_supported_versions("brainsmith.kernels", "Cut") == [1]
    path.unlink()
    reset_plugin_system()
    assert not is_custom_op("brainsmith.kernels", "Cut")


@pytest.mark.slow
def test_looking_plugins_up_does_not_make_qonnx_look_again(project):
    project("cut.py", kernel_file("Cut", "Cut"))
    domain("brainsmith.kernels")
    assert get_supported_versions("brainsmith.kernels", "Cut") == [1]
    before = REGISTRY.redefinitions
    operators_in("brainsmith.kernels")
    get_plugin_manager().all_records()
    get_plugin_manager().registry.get("transform", "ConvertDivToMul")
    assert REGISTRY.redefinitions == before
