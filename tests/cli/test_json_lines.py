"""`--log-json`: each line is an object, whatever is logged, and whenever the command ends."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.build.messages import BuildLog
from brainsmith.cli.json_lines import JsonLines, json_line
from brainsmith.cli.main import main
from brainsmith.monitoring.current import BUILD, STEP, Current
from tests.cli.command import COMMAND, brainsmith
from tests.cli.test_build import job  # noqa: F401  (a fixture)
from tests.cli.test_log_options import saying  # noqa: F401  (a fixture)
from tests.cli.test_target_verbs import MODEL, x  # noqa: F401  (a fixture)

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def read(file):
    """The objects of a file, each of which is a line that ends."""
    text = file.read_text("ascii")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def record(message, *arguments, **more):
    return logging.makeLogRecord(
        {"name": "acme", "levelname": "INFO", "msg": message, "args": arguments, **more}
    )


HOSTILE = st.text(st.characters(exclude_categories=()))


@given(HOSTILE, HOSTILE, HOSTILE)
def test_whatever_is_logged_is_one_line_that_strict_readers_take(message, argument, step):
    line = json_line(record("%s %s", message, argument), "0123", step)
    assert line.count("\n") == 1 and line.isascii()
    found = json.loads(line)
    assert found["message"].encode()  # no half of a character is left, which other readers refuse
    assert (found["build"], found["step"] is None) == ("0123", not step)
    if message.isprintable() and argument.isprintable():
        assert found["message"] == f"{message} {argument}"


def test_a_line_has_these_fields():
    try:
        raise ValueError("why\n\x00")
    except ValueError:
        failed = record("it failed", exc_info=sys.exc_info(), created=1764355575.25)
    found = json.loads(json_line(failed, "", ""))
    assert list(found) == ["time", "level", "logger", "message", "build", "step", "exception"]
    assert found["time"] == "2025-11-28T18:46:15.250000Z"
    assert (found["level"], found["logger"], found["message"]) == ("INFO", "acme", "it failed")
    assert (found["build"], found["step"]) == (None, None)
    assert found["exception"].startswith("Traceback (most recent call last):\n")
    assert found["exception"].endswith("ValueError: why\n\x00")


class Unprintable:
    def __str__(self):
        raise ZeroDivisionError("no text")


@pytest.mark.parametrize(
    ("message", "arguments", "text"),
    [
        ("%d of them", ("many",), "%d of them (its arguments do not fit: TypeError)"),
        ("%s", (Unprintable(),), "%s (its arguments do not fit: ZeroDivisionError)"),
        (Unprintable(), (), "an object of class Unprintable, which has no text: ZeroDivisionError"),
    ],
)
def test_arguments_that_do_not_fit_lose_no_line(message, arguments, text):
    assert json.loads(json_line(record(message, *arguments), "", ""))["message"] == text


def test_what_runs_now_is_in_the_line(tmp_path):
    handler = JsonLines(str(tmp_path / "it.json"), "of-the-command")
    with Current(BUILD, "of-a-build"), Current(STEP, "cleanup"):
        handler.emit(record("inside"))
    handler.emit(record("outside"))
    handler.close()
    handler.emit(record("too late"))
    assert [(line["build"], line["step"]) for line in read(tmp_path / "it.json")] == [
        ("of-a-build", "cleanup"),
        ("of-the-command", None),
    ]


def test_a_disk_that_is_full_ends_the_log_and_not_the_command(capsys):
    handler = JsonLines("/dev/full")
    for _ in range(3):
        handler.emit(record("lost"))
    assert capsys.readouterr() == (
        "",
        "warning: --log-json: /dev/full cannot be written any more: No space left on device\n",
    )


def test_a_full_disk_is_no_word_of_the_step_that_runs(tmp_path, capsys):
    """What a step prints is kept with its result, and repeated when that is reused."""
    handler = JsonLines("/dev/full")
    with BuildLog(tmp_path / "build.log").taken("a step") as said:
        print("its own")
        handler.emit(record("lost"))
    assert said.texts == [("stdout", "its own\n")]
    assert capsys.readouterr().err.endswith(": No space left on device\n")


def test_a_log_has_all_of_a_build_with_its_id_and_steps(saying, elsewhere, capsys):  # noqa: F811
    words = saying()
    assert main([*words, "--quiet", "--log-json", "it.json"]) == 0
    assert capsys.readouterr().out == ""
    lines = read(elsewhere / "it.json")
    report = json.loads((elsewhere / "out" / "report.json").read_text())
    assert re.fullmatch("[0-9a-f]{16}", report["build_id"])
    assert {line["build"] for line in lines} == {report["build_id"]}
    assert all(TIME.fullmatch(line["time"]) for line in lines)
    assert lines[0]["message"] == f"version 0.1.0: brainsmith {' '.join(words)} --quiet --log-json it.json"
    of_step = [(line["logger"], line["message"]) for line in lines if line["step"] == "saying"]
    assert of_step[:3] == [
        ("brainsmith.build.messages", "printed"),
        ("finn.it", "logged"),
        ("brainsmith.build.messages", "in two parts"),
    ]
    assert of_step[3][0] == "brainsmith.cli" and of_step[3][1].startswith("[1/1] saying ")
    assert re.fullmatch(r"done after \d+\.\d s", lines[-1]["message"])
    root = logging.getLogger()
    assert root.level == logging.WARNING and not any(isinstance(one, JsonLines) for one in root.handlers)


def test_two_builds_have_two_ids(saying, elsewhere, capsys):  # noqa: F811
    ids = set()
    for _ in range(2):
        assert main([*saying(), "--log-json", "it.json"]) == 0
        ids |= {line["build"] for line in read(elsewhere / "it.json")}
    assert len(ids) == 2


def test_an_error_is_a_line_with_its_traceback(saying, elsewhere, capsys):  # noqa: F811
    assert main([*saying(fails=True), "--log-json", "it.json", "--log-file", "it.log"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    (failed,) = [line for line in read(elsewhere / "it.json") if "exception" in line]
    assert failed["message"].partition(" after ")[0] == "exit code 1"
    assert "ZeroDivisionError: why" in failed["exception"]
    report = json.loads((elsewhere / "out" / "failed" / "report.json").read_text())
    assert failed["build"] == report["build_id"]
    assert "ZeroDivisionError: why" in (elsewhere / "it.log").read_text()


def test_a_command_that_builds_nothing_has_no_id(elsewhere, capsys):
    (elsewhere / "good.yaml").write_text("hw_compiler:\n  steps: [cleanup]\n")
    assert main(["blueprint", "check", "good.yaml", "--log-json", "it.json"]) == 0
    assert {line["build"] for line in read(elsewhere / "it.json")} == {None}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--log-json", "no/it"], 1, "--log-json: no/it cannot be written: No such file or directory"),
        (["--log-json", "."], 1, "--log-json: . cannot be written: Is a directory"),
        (
            ["--log-json", "x/../it", "--log-file", "it"],
            2,
            "--log-file and --log-json must be two files; both are it",
        ),
    ],
)
def test_mistakes_are_one_message_before_anything_is_built(words, code, message, job, elsewhere, capsys):  # noqa: F811
    assert main([*job, *words]) == code
    assert capsys.readouterr() == ("", f"error: {message}\n")
    assert not (elsewhere / "out").exists()


def test_the_end_of_a_process_whose_log_could_not_be_opened_says_nothing_more(elsewhere):
    done = brainsmith("blueprint", "check", "good.yaml", "--log-json", "no/it", cwd=elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "error: --log-json: no/it cannot be written: No such file or directory\n",
    )


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_whole_lines(elsewhere):
    (elsewhere / ".brainsmith").mkdir()
    (elsewhere / "plugins").mkdir()
    (elsewhere / "plugins" / "chatting.py").write_text(
        "import logging\nfrom brainsmith.plugin.core import step\n\n@step\ndef chatting(model, cfg):\n"
        "    while True:\n        logging.getLogger('acme').info('%s', 'long ' * 500)\n"
    )
    (elsewhere / "b.yaml").write_text("hw_compiler:\n  steps: [chatting]\n")
    command = [
        *COMMAND,
        "build",
        MODEL,
        "--blueprint",
        "b.yaml",
        "--output",
        "out",
        "--no-verify",
        "--log-json",
        "it.json",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        file, until = elsewhere / "it.json", time.monotonic() + 60
        while (not file.exists() or file.stat().st_size < 1_000_000) and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    lines = read(file)
    assert len(lines) > 300
    assert (lines[-1]["logger"], lines[-1]["step"]) == ("acme", "chatting")
