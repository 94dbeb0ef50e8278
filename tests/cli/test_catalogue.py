"""`brainsmith catalogue`."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.cli.catalogue import MOST_SHOWN, _print
from brainsmith.cli.terminal import Terminal
from brainsmith.web.catalogue.data_sheet import SCHEMA, read_data_sheet
from brainsmith.web.catalogue.entry_reading import read_entries
from tests.cli.command import ROOT, TRANSFORM, in_this_process
from tests.web.catalogue.made import record

PAGE = (ROOT / "docs" / "catalogue.md").read_text()


def made(capsys, *words):
    done = in_this_process(capsys, "catalogue", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def printed(change, is_first=False):
    """What is printed of a catalogue in place of another one."""
    stream = io.StringIO()
    document = {"folder": "site", "plugins": 3, "bytes": 3_180_000, "is_first": is_first, "change": change}
    _print(document, Terminal(stream))
    return stream.getvalue().splitlines()


def test_what_changed_is_printed_the_first_of_many():
    first = "site/index.html: 3 plugins, 3.18 MB"
    assert printed(None, is_first=True) == [first]
    assert printed(None) == [first, "nothing changed since the last catalogue"]
    named = [{"type": "op", "framework": "acme", "name": f"N{at}"} for at in range(MOST_SHOWN + 2)]
    change = {
        "providers": {"before": ["acme 1", "finn 2"], "after": ["acme 2", "finn 2"]},
        "added": named,
        "removed": [{"type": "transform", "framework": "finn", "name": "Old"}],
        "changed": [{**named[0], "fields": {"backend_type": {}, "stage": {}}}],
    }
    assert printed(change) == [
        first,
        *(f"  added    op acme:N{at}" for at in range(MOST_SHOWN)),
        "  added    2 more",
        "  removed  transform finn:Old",
        "  changed  op acme:N0 (backend type, stage)",
        "  provider acme 2 is new",
        "  provider acme 1 is gone",
    ]


@pytest.mark.slow
def test_it_is_written_and_says_what_changed(project, capsys):
    first = made(capsys)
    count = int(re.fullmatch(r"site/index\.html: (\d+) plugins, [\d.]+ MB\n", first).group(1))
    assert (project / "site" / "transform" / "project.KeepAll.html").is_file()
    assert made(capsys).splitlines()[1:] == ["nothing changed since the last catalogue"]
    plugins = project / "plugins"
    (plugins / "keep_all.py").write_text(TRANSFORM.replace('stage="tidy"', 'stage="late"'))
    (plugins / "more.py").write_text(TRANSFORM.replace("KeepAll", "More"))
    size, *changes = made(capsys).splitlines()
    assert re.fullmatch(rf"site/index\.html: {count + 1} plugins, [\d.]+ MB", size)
    assert changes == [
        "  added    transform project:More",
        "  changed  transform project:KeepAll (stage)",
    ]
    os.remove(plugins / "more.py")
    found = json.loads(made(capsys, "--json"))
    assert {**found, "bytes": 0, "files": 0, "change": 0} == {
        "folder": "site", "plugins": count, "files": 0, "bytes": 0, "is_first": False, "change": 0,
    }  # fmt: skip
    assert [one["key"] for one in found["change"]["removed"]] == ["transform:project:More"]
    assert found["files"] == count + 6


@pytest.mark.slow
def test_many_changes_are_cut_and_new_providers_are_named(project, capsys):
    made(capsys)
    file = project / "site" / "catalogue.json"
    data = json.loads(file.read_text())
    for key, one in list(data["plugins"].items()):
        if one["framework"] == "qonnx":
            if one["type"] == "op":
                del data["plugins"][key]
            one["provider"] = "qonnx 0.9"
    file.write_text(json.dumps(data))
    for page in (project / "site" / "op").glob("qonnx.*"):
        page.unlink()
    shown = made(capsys).splitlines()
    assert [line[:11] for line in shown[1:11]] == ["  added    "] * 10
    assert re.fullmatch(r"  added    \d+ more", shown[11])
    assert shown[-2:] == ["  provider qonnx 1.0.0 is new", "  provider qonnx 0.9 is gone"]


def test_what_is_in_the_way_stays(elsewhere, capsys):
    (elsewhere / "mine").mkdir()
    (elsewhere / "mine" / "thesis.md").write_text("years")
    done = in_this_process(capsys, "catalogue", "--output", "mine")
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "error: output folder mine is not empty, and holds no catalogue that this version can read\n"
        "  name another folder, or remove this one\n",
    )
    done = in_this_process(capsys, "catalogue", "--source", "nowhere")
    assert (done.returncode, done.stderr) == (
        2, "error: --source must be FRAMEWORK=URL or FRAMEWORK=none, not 'nowhere'\n",
    )  # fmt: skip
    assert os.listdir(elsewhere) == ["mine"]


@pytest.mark.slow
def test_problems_of_plugins_and_data_sheets_are_warnings(project, capsys):
    plugins = project / "plugins"
    (plugins / "broken.py").write_text("from brainsmith.plugin.core import transform\n\n@transform(\n")
    (plugins / "my_rtl.py").write_text(
        "from finn.custom_op.fpgadataflow.rtlbackend import RTLBackend\n\n"
        "from brainsmith.plugin.core import backend\n\n\n"
        '@backend(kernel="Pad", backend_type="rtl", domain="mine.rtl")\nclass MyRTL(RTLBackend):\n    pass\n'
    )
    (plugins / "data_sheets").mkdir()
    (plugins / "data_sheets" / "MyRTL.json").write_text("{}")
    done = in_this_process(capsys, "catalogue")
    assert done.returncode == 0
    first, second = done.stderr.splitlines()
    assert first.startswith("warning: ") and "broken.py" in first
    assert second == (
        f"warning: {plugins}/data_sheets/MyRTL.json: the data sheet cannot be used: its schema is not {SCHEMA!r}"
    )
    assert (project / "site" / "backend" / "project.MyRTL.html").is_file()


@pytest.mark.slow
def test_it_imports_no_framework(project):
    program = (
        "from brainsmith.cli.main import main\nimport sys\n"
        "assert main(['catalogue']) == 0\n"
        "print([name for name in ('numpy', 'onnx', 'qonnx', 'finn', 'keep_all') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_every_rtl_backend_of_ours_has_a_data_sheet_with_a_picture_and_all_points():
    from brainsmith.plugin.manager import get_plugin_manager

    registry = get_plugin_manager().all_records()[0]
    ours = [
        one
        for one in registry.records("backend")
        if one.framework == "brainsmith" and one.backend_type == "rtl"
    ]
    entries, problems = read_entries(registry, ours)
    assert problems == [] and len(entries) > 20
    assert [
        one.key for one in entries if one.sheet is None or not one.sheet.timing or not one.sheet.points
    ] == []
    assert [one.key for one in entries if len(one.sheet.points) == 1] == [
        "backend:brainsmith:LookupRTL", "backend:brainsmith:WidthConverterRTL",
    ]  # fmt: skip


@pytest.fixture
def documented(tmp_path):
    """The data sheet of the page, beside a backend."""
    (tmp_path / "data_sheets").mkdir()
    (tmp_path / "data_sheets" / "my_core.svg").write_text("<svg/>")
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "data_sheets" / "MyRTL.json").write_text(block)
    return record("MyRTL", "backend", source="class MyRTL: ...\n", folder=tmp_path)


def test_the_data_sheet_of_the_page_is_one(documented):
    sheet, problem = read_data_sheet(documented)
    assert problem == ""
    assert (sheet.case, [point["lut"] for point in sheet.points]) == ("64 INT8", [40, 71])


@pytest.mark.slow
def test_the_page_names_all_keys(project, capsys):
    made(capsys)
    data = json.loads((project / "site" / "catalogue.json").read_text())
    assert set(data) == set(
        re.findall(
            r"^\| `(\w+)` \|", PAGE.partition("## `catalogue.json`")[2].partition("\n## ")[0], re.MULTILINE
        )
    )
    assert {path.name for path in Path("site").iterdir() if path.suffix == ".html"} == {
        "index.html", "kernels.html", "changes.html",
    }  # fmt: skip


@pytest.mark.slow
def test_the_commands_of_the_page_run(project, capsys):
    commands = [line for line in PAGE.splitlines() if line.startswith("brainsmith ")]
    assert len(commands) == 2
    for command in commands:
        made(capsys, *shlex.split(command)[2:])
    text = (project / "site" / "transform" / "qonnx.FoldConstants.html").read_text()
    assert re.search(r'href="https://example.com/qonnx/blob/v1.0.0/src/qonnx/[\w/]+\.py#L\d+"', text)
    assert "file://" not in (project / "site" / "transform" / "finn.Streamline.html").read_text()
