"""The pages of kernels are true: their code runs, their pictures are what is drawn now, and none is missing."""

import importlib.util
import re
import sys

import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.plugin.manager import get_plugin_manager
from tests.test_docs import LINK, ROOT, blocks, run

PAGES = ROOT / "docs" / "kernels"
ROW = re.compile(r"^\| `(.*?)` \| \[(\w+)\]\((\w+\.md)\) \| `(\w+)` \| (?:`(\w+)`)? ?\|", re.MULTILINE)


def ours():
    """Return the records of this project's own backends that make circuits."""
    return [
        info
        for info in get_plugin_manager().all_records()[0].records("backend")
        if info.framework == "brainsmith" and info.reference.startswith("brainsmith.backends.")
    ]


def load(path):
    """Import a script that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def scripts(monkeypatch):
    """Let scripts of docs/ and benchmarks/ import their neighbours."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(PAGES))
    yield
    for name in ("kernel_cases", "kernel_nodes", "kernels", "draw", "timing_svg", "data_sheets"):
        sys.modules.pop(name, None)


def page_of(info):
    """Return the page of a backend: it has the name of its file."""
    return PAGES / f"{info.reference.partition(':')[0].rpartition('.')[2]}.md"


def test_every_backend_has_a_page():
    assert [info.name for info in ours() if not page_of(info).is_file()] == []


def test_the_table_lists_every_backend():
    rows = {
        name: (kernel, page, node)
        for kernel, name, page, node, _ in ROW.findall((PAGES / "README.md").read_text())
    }
    expected = {
        info.name: (
            info.kernel,
            page_of(info).name,
            info.extra.get("op_type") or info.reference.rpartition(":")[2],
        )
        for info in ours()
    }
    assert rows == expected


def test_the_cases_are_those_of_every_rtl_backend(scripts):
    from kernel_cases import CASES

    cores = {info.name: info.load().core for info in ours() if info.backend_type == "rtl"}
    assert {name: shown.core for name, shown in CASES.items()} == cores


def test_the_table_names_the_cores(scripts):
    from kernel_cases import CASES

    rows = ROW.findall((PAGES / "README.md").read_text())
    assert {name: core for _, name, _, _, core in rows if core} == {
        name: shown.core for name, shown in CASES.items()
    }


def test_every_page_shows_its_picture(scripts):
    from kernel_cases import CASES

    pages = {info.name: page_of(info) for info in ours()}
    missing = [
        name
        for name, shown in CASES.items()
        if f"(../../brainsmith/backends/rtl/data_sheets/{shown.core}.svg)" not in pages[name].read_text()
    ]
    assert missing == []


def test_links_of_the_pages_lead_somewhere():
    dead = [
        f"{page.name}: {link}"
        for page in sorted(PAGES.glob("*.md"))
        for link in LINK.findall(page.read_text())
        if "://" not in link and not (PAGES / link).exists()
    ]
    assert dead == []


@pytest.mark.slow
def test_the_pictures_are_what_is_drawn_now(scripts, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    draw = load(PAGES / "draw.py")
    drawn = draw.draw(draw.drawn_backends())
    assert [name for name, svg in drawn.items() if draw.picture(name).read_text("utf-8") != svg] == []


@pytest.mark.slow
def test_the_data_sheets_are_what_the_formulas_give_now(scripts):
    sheets = load(PAGES / "data_sheets.py")
    from kernel_cases import CASES

    stale = [
        name
        for name in CASES
        if sheets.sheet_file(name).read_text("utf-8") != sheets.text_of(sheets.data_sheet(name))
    ]
    assert stale == [], f"python docs/kernels/data_sheets.py {' '.join(stale)}"


@pytest.fixture
def written(tmp_path):
    """A project with all files that the page has of a new kernel with an RTL backend, and the page's last block."""
    (core,) = blocks("docs/kernels/README.md", "systemverilog")
    kernel, backend, trial = blocks("docs/kernels/README.md", "python")
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    files = {"stream_max.py": kernel, "stream_max_core.sv": core, "stream_max_rtl.py": backend}
    for name, text in files.items():
        assert f"`plugins/{name}`" in (PAGES / "README.md").read_text()
        (tmp_path / "plugins" / name).write_text(text)
    return tmp_path, trial


@pytest.mark.slow
def test_the_code_of_the_page_on_writing_one_runs(written):
    folder, trial = written
    printed = run([sys.executable, "-c", trial], folder)
    check, used = printed.splitlines()
    assert check.endswith("alone computes what the golden model computes: 512 values of 8 frames"), printed
    assert re.fullmatch(r"StreamMaxRTL_0 Resources\(lut=\d+, .*bram18=0, dsp=0, .*", used), printed
    (command,) = re.findall(r"^    (brainsmith compare .*)$", (PAGES / "README.md").read_text(), re.MULTILINE)
    compared = [line.split("\t") for line in run(command.split(), folder).splitlines()]
    assert [(row[0], row[-1]) for row in compared] == [
        ("reference", "compared with"), ("numpy", "equal"), ("onnxruntime", "equal"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_network_with_the_kernel_of_the_page_is_built_and_its_circuit_simulated(written):
    folder, _ = written
    shape, ours, finn = (1, 8, 8), "brainsmith.kernels", "finn.custom_op.fpgadataflow"
    nodes = [
        helper.make_node(
            "DuplicateStreams", ["x"], ["a", "b"], name="fork", domain=finn, backend="fpgadataflow", NumChannels=8,
            PE=1, numInputVectors=[1, 8], inputDataType="INT6", NumOutputStreams=2, outFIFODepths=[2, 2],
        ),
        helper.make_node(
            "ShuffleKernel", ["b"], ["c"], name="turn", domain=ours, backend="fpgadataflow", inputDataType="INT6",
            in_shape=shape, out_shape=shape, transpose_in_shape=shape, perm=[0, 2, 1],
        ),
        helper.make_node(
            "StreamMaxKernel", ["a", "c"], ["y"], name="max", domain=ours, backend="fpgadataflow", VECTORS=8,
            CHANNELS=8, BITS=6,
        ),
    ]  # fmt: skip
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xabcy"}
    graph = helper.make_graph(
        nodes, "max", [values["x"]], [values["y"]], value_info=[values[name] for name in "abc"]
    )
    opsets = [helper.make_opsetid(domain, 17 if not domain else 1) for domain in ("", ours, finn)]
    model = ModelWrapper(helper.make_model(graph, ir_version=10, opset_imports=opsets))
    for name in values:
        model.set_tensor_datatype(name, DataType["INT6"])
    model.save(str(folder / "net.onnx"))
    (folder / "net.yaml").write_text(
        "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: 3000000}\n"
        "  kernels: [DuplicateStreams, Shuffle, StreamMax]\n"
        "  steps: [specialize, fold, rtl_codegen, rtl_stitch, rtl_size_fifos, rtl_simulate]\n"
    )
    printed = run(["brainsmith", "build", "net.onnx", "--blueprint", "net.yaml", "--output", "out"], folder)
    assert "0 of 32 random frames differ from the input model; with stalls 0 of 96 frames differ" in printed
    assert "targets    numpy, onnxruntime agree with reference" in printed


@pytest.mark.slow
def test_the_benchmark_measures_a_backend(scripts, capsys, monkeypatch):
    kernels = load(ROOT / "benchmarks" / "kernels.py")
    monkeypatch.setattr(sys, "argv", ["kernels.py", "DuplicateStreamsRTL"])
    kernels.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:3] == ["backend", "case", "wrong"]
    assert len(printed) == 5
    assert printed[-1] == "2 cases, 0 of them outside of the goals"


def test_the_benchmark_refuses_what_it_does_not_know(scripts, monkeypatch):
    kernels = load(ROOT / "benchmarks" / "kernels.py")
    monkeypatch.setattr(sys, "argv", ["kernels.py", "PoolRLT"])
    with pytest.raises(SystemExit, match="no backend is named 'PoolRLT'; there are DuplicateStreamsRTL"):
        kernels.main()
