"""`brainsmith plugins list`."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from brainsmith.cli.main import main
from brainsmith.plugin.info import PLUGIN_TYPES
from tests.cli.command import COMMAND, brainsmith, on_terminal

HEAVY = (
    *("numpy", "onnx", "qonnx", "finn", "yaml", "stevedore", "importlib.metadata", "dataclasses", "logging"),
    *("argparse", "argcomplete", "ast", "inspect", "json", "pathlib", "re", "typing"),
)


def test_it_imports_nothing_that_it_can_do_without():
    program = """\
        import sys
        before = set(sys.modules)
        from brainsmith.cli.main import main
        status = main(["plugins", "list"])
        print(status, *sorted(set(sys.modules) - before), file=sys.stderr)
        """
    command = [
        sys.executable,
        "-S",
        "-c",
        f"import sys; sys.path[:] = {sys.path!r}\n{textwrap.dedent(program)}",
    ]
    for _ in range(2):  # the first one fills the cache
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, *modules = done.stderr.split()
    assert status == "0"
    assert "brainsmith.cli.plugins_list" in modules
    assert sorted(set(modules) & set(HEAVY)) == []
    assert len(done.stdout.splitlines()) > 430


def test_into_a_pipe_there_are_six_columns_and_no_heading():
    done = brainsmith("plugins", "list")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert {len(row) for row in rows} == {6}
    assert [
        "transform", "brainsmith", "ExpandNorms", "topology_opt", "", "Expand normalization operations",
    ] in rows  # fmt: skip
    assert ["backend", "finn", "MVAU_rtl", "", "MVAU (rtl)", ""] in rows
    assert rows == sorted(rows, key=lambda row: (PLUGIN_TYPES.index(row[0]), row[1:3]))


def test_on_a_terminal_there_are_aligned_columns_cut_to_the_width(project):
    status, shown = on_terminal("plugins", "list", "--framework", "project", width=60, NO_COLOR="1")
    assert status == 0
    assert shown == (
        "TYPE       FRAMEWORK  NAME     STAGE  DESCRIPTION\n"
        "transform  project    KeepAll  tidy   Keep all as it is\n"
        "\n"
        "1 plugin: 1 transform\n"
    )
    narrow = on_terminal("plugins", "list", "--framework", "project", width=44, NO_COLOR="1")[1]
    assert narrow.splitlines()[1] == "transform  project    KeepAll  tidy   Keep …"


def test_json_has_every_field(project):
    (info,) = json.loads(brainsmith("plugins", "list", "--framework", "project", "--json").stdout)
    file = project / "plugins" / "keep_all.py"
    assert info == {
        "name": "KeepAll",
        "type": "transform",
        "framework": "project",
        "reference": info["reference"],
        "version": "",
        "description": "Keep all as it is",
        "author": "",
        "requires": [],
        "requires_plugins": [],
        "min_brainsmith": "",
        "max_brainsmith": "",
        "priority": 50,
        "stage": "tidy",
        "kernel": None,
        "backend_type": None,
        "device_types": [],
        "tags": [],
        "origin": f"{file}:6",
        "extra": {"folder": str(file.parent)},
        "untrusted": "",
    }


def test_filters_work_together(capsys):
    assert (
        main(["plugins", "list", "--type=transform", "--framework", "brainsmith", "--stage=topology_opt"])
        == 0
    )
    names = {line.split("\t")[2] for line in capsys.readouterr().out.splitlines()}
    assert names >= {"ConvertDivToMul", "ExpandNorms", "MergeOpChains"}
    assert main(["plugins", "list", "--type", "step", "--stage", "topology_opt"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "no plugin is step and topology_opt\n")


def test_an_unknown_framework_or_stage_is_an_error(capsys):
    assert main(["plugins", "list", "--framework", "fin"]) == 2
    assert capsys.readouterr().err == (
        "error: --framework: no plugin has the framework 'fin'. Did you mean 'finn'?\n"
        "  the frameworks are brainsmith, finn, qonnx\n"
    )
    assert main(["plugins", "list", "--stage", "topology_optt"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(
        "error: --stage: no plugin has the stage 'topology_optt'. Did you mean 'topology_opt'?\n  the stages are "
    )


def test_what_discovery_cannot_read_is_a_warning(project):
    (project / "plugins" / "broken.py").write_text("from brainsmith.plugin.core import step\n@step\ndef (:\n")
    (project / "plugins" / "twice.py").write_text((project / "plugins" / "keep_all.py").read_text())
    done = brainsmith("plugins", "list", "--framework", "project")
    assert done.returncode == 0
    assert done.stdout.startswith("transform\tproject\tKeepAll\t")
    assert done.stderr == (
        f"warning: {project}/plugins/broken.py:3:5: the file is not Python, so its plugins are not found: invalid syntax\n"
        f"warning: {project}/plugins/twice.py:6: transform 'KeepAll' is defined twice in framework 'project':\n"
        f"  {project}/plugins/keep_all.py:6\n"
        f"  {project}/plugins/twice.py:6\n"
    )


def everything_below(folder):
    return [os.path.join(here, file) for here, _, files in os.walk(folder) for file in files]


@pytest.mark.finds_anew
@pytest.mark.slow
def test_a_damaged_cache_changes_nothing(project):
    caches = os.environ["XDG_CACHE_HOME"]
    (project / ".brainsmith" / "config.yaml").write_text("plugin_system: {cache_ttl: 3000}\n")
    first = brainsmith("plugins", "list").stdout
    shown = brainsmith("plugins", "show", "KeepAll").stdout
    files = everything_below(caches)
    kinds = {os.path.relpath(file, caches).split(os.sep)[1] for file in files}
    assert kinds == {"definitions", "details", "discovery", "locks", "settings"}
    for damage in (b"", b"garbage \x00\xff" * 999, b"brainsmith kept\0" + bytes(5000)):
        for file in files:
            with open(file, "wb") as damaged:
                damaged.write(damage)
        again = brainsmith("plugins", "list")
        assert (again.returncode, again.stdout, again.stderr) == (0, first, "")
        assert brainsmith("plugins", "show", "KeepAll").stdout == shown
    for file in files:  # the end of each is missing, as when the machine lost power
        os.truncate(file, os.path.getsize(file) // 2)
    assert brainsmith("plugins", "list").stdout == first


@pytest.mark.slow
@pytest.mark.parametrize("where", ["/proc/nowhere", "/dev/null/caches"])
def test_a_cache_folder_that_cannot_be_written_only_costs_time(where):
    done = brainsmith("plugins", "list", XDG_CACHE_HOME=where)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == brainsmith("plugins", "list").stdout


@pytest.mark.finds_anew
@pytest.mark.slow
def test_two_processes_at_once_see_the_same():
    processes = [subprocess.Popen([*COMMAND, "plugins", "list"], stdout=subprocess.PIPE) for _ in range(3)]
    outputs = {process.communicate(timeout=60)[0] for process in processes}
    assert len(outputs) == 1
    assert [process.returncode for process in processes] == [0, 0, 0]


def test_blueprint_mode_does_not_hide_anything():
    done = brainsmith("plugins", "list", BRAINSMITH_PLUGIN_MODE="blueprint")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 430


def test_a_framework_that_the_settings_leave_out_is_said(project, capsys):
    (project / ".brainsmith" / "config.yaml").write_text("plugin_system: {frameworks: [brainsmith]}\n")
    assert main(["plugins", "list", "--framework", "finn"]) == 2
    assert capsys.readouterr().err == (
        "error: --framework: no plugin has the framework 'finn'\n"
        "  FINN is left out by the setting frameworks: add finn to plugin_system: frameworks in .brainsmith/config.yaml\n"
        "  the frameworks are brainsmith, project\n"
    )
