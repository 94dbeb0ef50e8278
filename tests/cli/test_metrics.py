"""`brainsmith metrics`: the text on standard output or in a file, and what is wrong in one message."""

import os
import sys

import pytest

from brainsmith.cli.main import main
from tests.monitoring.exposed import families, samples


def test_it_prints_what_prometheus_reads(capsys):
    assert main(["metrics"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith(
        "# HELP brainsmith_info The version of BrainSmith.\n# TYPE brainsmith_info gauge\n"
    )
    found = samples(shown.out)
    assert found["brainsmith_plugins", ("framework", "qonnx"), ("type", "transform")] > 50
    kinds = {name.partition("_")[0] for name in families(shown.out)}
    assert kinds == {"brainsmith"}  # the collector of node_exporter has figures of processes itself
    assert "brainsmith_build_duration_seconds" not in families(shown.out)


def test_a_file_is_replaced_in_one_piece(elsewhere, capsys):
    (elsewhere / "it.prom").write_text("old")
    assert main(["metrics", "--output", "it.prom"]) == 0
    assert capsys.readouterr() == ("", "")
    assert samples((elsewhere / "it.prom").read_text())["brainsmith_cache_writable",] == 1
    assert os.listdir(elsewhere) == ["it.prom"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["--output", "/proc/it.prom"],
            1,
            "--output: /proc/it.prom cannot be written: No such file or directory",
        ),
        (["--output", "/dev/null"], 1, "--output must be a file, or a new one; /dev/null is none"),
        (["--dashboard", "--output", "x"], 2, "--dashboard is printed; --output FILE takes the figures"),
    ],
)
def test_misuse_says_what_to_do(words, code, message, capsys):
    assert main(["metrics", *words]) == code
    assert capsys.readouterr() == ("", f"error: {message}\n")


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert main(["metrics"]) == 1
    message = 'error: metrics need prometheus-client: pip install "brainsmith[metrics]"\n'
    assert capsys.readouterr() == ("", message)
    assert main(["metrics", "--dashboard"]) == 0
