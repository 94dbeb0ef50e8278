"""`brainsmith health` and `brainsmith stats`."""

import json
import re
import signal
import subprocess
import time

import pytest

from brainsmith.cli.main import main
from tests.cli.command import COMMAND, brainsmith, on_terminal


def test_a_healthy_hub_exits_with_0_and_names_everything():
    done = brainsmith("health")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "BrainSmith 0.1.0 is healthy\n\nAdapters\n  name          status     version  plugins"
    )
    sections = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert sections[1:] == [
        "Adapters",
        "Caches",
        "Tools (optional)",
        "Packages",
        "Names defined twice",
        "Settings",
    ]
    assert "\n  onnx with onnxruntime         works    onnx 1.21.0, onnxruntime 1.25.1\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_the_managers_health_check():
    done = brainsmith("health", "--json")
    health = json.loads(done.stdout)
    assert (done.returncode, health["status"]) == (0, "healthy")
    assert list(health) == [
        "schema", "status", "version", "problems", "cache_available", "frameworks_available", "frameworks", "adapters",
        "duplicates", "caches", "tools", "packages", "settings", "trust",
    ]  # fmt: skip


@pytest.mark.slow
def test_what_is_not_healthy_exits_with_1_and_says_what_to_do(project):
    (project / "plugins" / "broken.py").write_text("from brainsmith.plugin.core import step\n@step\ndef (:\n")
    done = brainsmith("health")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:2] == [
        "BrainSmith 0.1.0 is degraded",
        f"  {project}/plugins/broken.py:3:5: the file is not Python, so its plugins are not found: invalid syntax",
    ]


@pytest.mark.slow
def test_wrong_settings_are_shown_rather_than_raised():
    done = brainsmith("health", BRAINSMITH_PLUGIN_CACHE_TTL="soon")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[:2] == [
        "BrainSmith 0.1.0 is broken",
        "  BRAINSMITH_PLUGIN_CACHE_TTL: cache_ttl must be a number of seconds, 0 or more, not 'soon'",
    ]


@pytest.mark.slow
def test_a_cache_folder_that_cannot_be_written_is_degraded(project):
    (project / ".brainsmith" / "config.yaml").write_text(
        "plugin_system: {frameworks: []}\n"
    )  # none to import
    done = brainsmith("health", XDG_CACHE_HOME="/proc/nowhere")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1] == (
        "  /proc/nowhere/brainsmith: the cache folder cannot be written: No such file or directory; every run takes"
        " longer. Make it writable, or set XDG_CACHE_HOME"
    )


@pytest.mark.slow
def test_on_a_terminal_lines_are_wrapped_and_coloured():
    status, shown = on_terminal("health", width=70)
    assert status == 0
    assert shown.startswith("BrainSmith 0.1.0 is \x1b[32mhealthy\x1b[0m\n")
    plain = on_terminal("health", width=70, NO_COLOR="1")[1]
    tools = plain.partition("Tools (optional)\n")[2].partition("\nPackages\n")[0]
    assert max(len(line) for line in tools.splitlines() if "/" not in line) <= 70  # a path is never cut
    assert "…" not in plain
    assert re.search(r"\n  verilator +(missing +simulates RTL; needs|found )", plain)


NOT_PYTHON = "from brainsmith.plugin.core import step\n@step\ndef (:\n"


def watching(*words):
    command = [*COMMAND, "health", "--watch", "0.1", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_watching_says_each_change_and_ends_with_the_last_status(project, end):
    broken = project / "plugins" / "broken.py"
    with watching() as process:
        first = process.stdout.readline()
        broken.write_text(NOT_PYTHON)
        second = process.stdout.readline()
        process.send_signal(end)
        assert process.communicate(timeout=20) == ("", "")
    when = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    assert re.fullmatch(rf"{when} healthy\n", first)
    problem = "3:5: the file is not Python, so its plugins are not found: invalid syntax"
    assert re.fullmatch(rf"{when} degraded: {re.escape(f'{broken}:{problem}')}\n", second)
    assert process.returncode == 1


@pytest.mark.slow
def test_watching_gives_a_document_a_line(project):
    broken = project / "plugins" / "broken.py"
    broken.write_text(NOT_PYTHON)
    with watching("--json") as process:
        first = json.loads(process.stdout.readline())
        broken.unlink()
        second = json.loads(process.stdout.readline())
        time.sleep(0.5)  # nothing changes, so nothing is printed
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == ("", "")
    assert (first["status"], second["status"], process.returncode) == ("degraded", "healthy", 0)
    assert first["schema"] == "brainsmith.health/1" and first["problems"] and not second["problems"]
    assert first["time"] < second["time"] or first["time"] == second["time"]


@pytest.mark.slow
def test_watching_ends_when_nobody_reads_it(project):
    with watching() as process:
        assert process.stdout.readline().endswith(" healthy\n")
        process.stdout.close()
        (project / "plugins" / "broken.py").write_text(NOT_PYTHON)
        assert process.wait(timeout=20) == 1
        assert process.stderr.read() == ""


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan"])
def test_how_often_it_looks_is_a_number(text, capsys):
    assert main(["health", f"--watch={text}"]) == 2
    assert capsys.readouterr().err == f"error: --watch must be a number above 0, not {text!r}\n"


def test_stats_are_measured(capsys):
    assert main(["stats", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["plugin_count"] > 430
    assert first["discovery_time_ms"] > 0
    assert first["memory_usage_mb"] > 5
    assert first["loaded_count"] == 0
    assert main(["stats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("discovery time    ") and lines[0].endswith(" ms")
    assert f"plugin count      {first['plugin_count']}" in lines
