"""What a shell and a notebook show of the hub's objects fits on a screen; records and registry pickle."""

import pickle
import subprocess
import sys
from itertools import pairwise

import pytest

from brainsmith.build.result import BuildResult
from brainsmith.markup import Markup
from brainsmith.plugin.core import get_registry, step
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import PluginManager, get_plugin_manager
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.records import RecordList
from brainsmith.plugins import transforms as tfm
from tests.plugin.installed import run_python

LINES, COLUMNS = 24, 160


def fits(text):
    lines = text.splitlines()
    return len(lines) <= LINES and max(map(len, lines)) <= COLUMNS


def test_the_manager_says_what_was_found_and_finds_nothing_for_it():
    registry = Registry()
    manager = PluginManager(registry)
    assert (
        repr(manager)
        == "<plugin manager: mode as the settings say, <registry: no plugin found yet>, 0 loaded>"
    )
    registry.register(PluginInfo(type="step", name="a", framework="project", reference="m:a"))
    assert repr(registry) == "<registry: 1 step>"
    assert fits(repr(get_plugin_manager())) and fits(repr(get_registry()))


def test_a_list_shows_its_first_records_and_how_many_more_there_are():
    records = RecordList(
        PluginInfo(type="step", name=f"s{n}", framework="project", reference=f"m:s{n}") for n in range(25)
    )
    lines = repr(records).splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("<25 plugins", "  and 5 more>", 22)
    assert lines[1] == "  step:s0                                  project"
    assert repr(RecordList(records[:1])) == f"<1 plugin\n{lines[1]}>"
    assert repr(RecordList()) == "<0 plugins>"
    assert fits(repr(get_plugin_manager().discover_plugins(modes=["full"])))


def test_a_record_and_a_list_are_tables_in_a_notebook():
    info = PluginInfo(
        type="step", name="a", framework="project", reference="m:a", description="<b>", tags=("x", "y")
    )
    page = info._repr_html_()
    assert "<tr><th>name</th><td>a</td></tr>" in page
    assert "<tr><th>tags</th><td>x, y</td></tr>" in page
    assert "<td>&lt;b&gt;</td>" in page
    listed = RecordList([info] * 101)._repr_html_()
    assert listed.startswith("<table><caption>101 plugins, of which 100 are shown</caption>")
    assert listed.count("<td>&lt;b&gt;</td>") == 100
    assert not isinstance(listed, Markup)


def test_a_graph_is_a_table_of_its_nodes_in_a_notebook():
    from onnx import TensorProto, helper
    from qonnx.core.modelwrapper import ModelWrapper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 6)) for name in ("x", "<y>")]
    names = ["x", *(f"t{n}" for n in range(100)), "<y>"]
    nodes = [helper.make_node("Neg", [a], [b], name=f"n{a}") for a, b in pairwise(names)]
    page = ModelWrapper(helper.make_model(helper.make_graph(nodes, "test", ends[:1], ends[1:])))._repr_html_()
    assert page.startswith(
        "<table><caption>101 nodes, of which 100 are shown; input x (1, 6) FLOAT32, "
        "output &lt;y&gt; (1, 6) FLOAT32</caption>"
    )
    assert "<tr><td>Neg</td><td>nx</td><td></td><td>t0 () FLOAT32</td></tr>" in page
    assert page.count("<td>Neg</td>") == 100


@pytest.mark.parametrize(
    "imports",
    [
        "import qonnx.core.modelwrapper, brainsmith.plugins",
        "from brainsmith import transform; import qonnx.core.modelwrapper",
    ],
)
def test_a_graph_is_a_table_whichever_is_imported_first(tmp_path, imports):
    """A package stands for QONNX, whose own takes a second to import."""
    core = tmp_path / "qonnx" / "core"
    core.mkdir(parents=True)
    (core / "modelwrapper.py").write_text("class ModelWrapper:\n    pass\n")
    (core / "__init__.py").touch()
    (core.parent / "__init__.py").touch()
    code = f"""
    {imports}
    import json
    module = qonnx.core.modelwrapper
    shown = module.ModelWrapper._repr_html_
    print(json.dumps([shown.__name__, type(module.__loader__).__name__, type(module.__spec__.loader).__name__]))
    """
    assert run_python(code, path=[tmp_path], cwd=tmp_path) == ["graph_page", *["SourceFileLoader"] * 2]


def test_importing_the_hub_imports_no_framework(tmp_path):
    code = """
    import json, sys
    import brainsmith.plugins
    print(json.dumps([name for name in sys.modules if name.split(".")[0] in ("qonnx", "finn", "onnx", "numpy")]))
    """
    assert run_python(code, cwd=tmp_path) == []


def test_a_build_s_result_shows_the_end_of_the_build(tmp_path):
    report = {
        "steps": [], "layers": [], "estimate": None, "rate": None, "device": None, "accuracy": None,
        "shortfalls": [], "warnings": [f"number {n} <i>" + "x" * 200 for n in range(30)], "big": ["y" * 1000] * 100,
    }  # fmt: skip
    (tmp_path / "report.html").touch()
    result = BuildResult(tmp_path, tmp_path / "model.onnx", report, ())
    lines = repr(result).splitlines()
    assert lines[0] == f"<BuildResult {tmp_path}/model.onnx"
    assert lines[1] == "  steps      0 in 0.0 s"
    assert lines[-1] == "  and 14 more: summary()>"
    assert fits("\n".join(line[2:] for line in lines))
    page = result._repr_html_()
    assert "<tr><th>steps</th><td>0 in 0.0 s</td></tr>" in page
    assert page.count("<li>number ") == 30
    assert "&lt;i&gt;" in page
    assert f'<a href="{(tmp_path / "report.html").as_uri()}">report.html</a>' in page


def test_the_registry_and_its_records_pickle():
    registry = get_registry()
    assert pickle.loads(pickle.dumps(registry)) is registry
    info = registry["transform:ExpandNorms"]
    assert pickle.loads(pickle.dumps(info)) == info
    other = Registry()
    other.register(info)
    copy = pickle.loads(pickle.dumps(other))
    assert (copy.keys(), copy.values()) == (other.keys(), other.values())
    assert copy.get("transform", "ExpandNorms") is tfm.ExpandNorms


@pytest.mark.slow
def test_another_process_reads_the_registry_as_its_own(tmp_path):
    (tmp_path / "registry").write_bytes(pickle.dumps(get_registry()))
    program = "import pickle; print(pickle.load(open('registry', 'rb')).get('step', 'cleanup').__name__)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "cleanup\n", done.stderr


def test_records_carry_a_licence():
    assert tfm.get_info("ExpandNorms").license == tfm.get_info("ExpandNorms")["license"] == "MIT"
    assert tfm.get_info("qonnx:FoldConstants").license == "Apache-2.0"

    @step(license="BSD-3-Clause")
    def licensed(model, cfg): ...

    @step
    def unlicensed(model, cfg): ...

    registry = get_registry()
    assert registry["step:licensed"].license == "BSD-3-Clause"
    assert registry["step:unlicensed"].license == ""
    assert PluginInfo(name="x", license="MIT")["license"] == "MIT"


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: MIT OR Apache-2.0\nLicense: other\n", "MIT OR Apache-2.0"),
        ("License: BSD\n", "BSD"),
        ("Classifier: License :: OSI Approved :: MIT License\nClassifier: Topic :: X\n", "MIT License"),
        (
            "Classifier: License :: Public Domain\nClassifier: License :: OSI Approved :: MIT License\n",
            "Public Domain AND MIT License",
        ),
        ("License-File: AUTHORS\nLicense-File: LICENCE.md\n", "see LICENCE.md"),
        ("Name: acme\n\nLicense: not this\n", ""),
    ],
)
def test_a_record_that_states_none_has_its_distribution_s(tmp_path, monkeypatch, metadata, licence):
    (tmp_path / "acme_tools-1.0.dist-info").mkdir()
    (tmp_path / "acme_tools-1.0.dist-info" / "METADATA").write_text(metadata)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert PluginInfo(name="x", type="step", framework="acme-tools", reference="m:x").license == licence


@pytest.mark.parametrize("distribution", ["finn_plus", "finn"])
def test_finn_s_licence_is_that_of_the_distribution_that_brings_it(tmp_path, monkeypatch, distribution):
    (tmp_path / f"{distribution}-99.0.dist-info").mkdir()
    (tmp_path / f"{distribution}-99.0.dist-info" / "METADATA").write_text("License: of this one\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert PluginInfo(name="x", type="step", framework="finn", reference="m:x").license == "of this one"
