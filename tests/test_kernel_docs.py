"""The pages of kernels are true: their code runs, their pictures are what is drawn now, and none is missing."""

import importlib.util
import re
import sys

import pytest

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
    yield
    for name in ("kernel_cases", "kernel_nodes", "kernels", "draw"):
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
        if f"(../pictures/kernels/{shown.core}.svg)" not in pages[name].read_text()
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
def test_the_pictures_are_what_is_drawn_now(scripts, tmp_path):
    draw = load(PAGES / "draw.py")
    drawn = draw.draw(list(draw.CASES), cache=tmp_path)
    assert [name for name, svg in drawn.items() if draw.picture(name).read_text("utf-8") != svg] == []


@pytest.mark.slow
def test_the_code_of_the_page_on_writing_one_runs(tmp_path):
    (core,) = blocks("docs/kernels/README.md", "systemverilog")
    backend, trial = blocks("docs/kernels/README.md", "python")
    (tmp_path / ".brainsmith").mkdir()
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "stream_max_core.sv").write_text(core)
    (plugins / "stream_max_rtl.py").write_text(backend)
    printed = run([sys.executable, "-c", trial], tmp_path)
    check, used = printed.splitlines()
    assert check.endswith("alone computes what the golden model computes: 512 values of 8 frames"), printed
    assert re.fullmatch(r"ElementwiseMax_rtl_0 Resources\(lut=\d+, .*bram18=0, dsp=0, .*", used), printed


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
