"""`--quiet`, `--verbose` and `--log-file`."""

import logging
import re

import pytest

from brainsmith.build import runner
from brainsmith.cli.main import main
from tests.cli.command import brainsmith
from tests.cli.test_build import job  # noqa: F401  (a fixture)
from tests.cli.test_target_verbs import MODEL, x  # noqa: F401  (a fixture)

SAYING = """\
import logging
import sys

from brainsmith.plugin.core import step


@step
def saying(model, cfg):
    print("printed")
    print("in two", end=" ")
    print("parts", file=sys.stdout, end="")
    logging.getLogger("finn.it").info("logged")
    if FAILS:
        raise ZeroDivisionError("why")
    return model
"""


@pytest.fixture
def saying(job, elsewhere):  # noqa: F811
    """Make a job of a step that prints and logs; give its words."""
    (elsewhere / ".brainsmith").mkdir()
    (elsewhere / "plugins").mkdir()
    (elsewhere / "short.yaml").write_text("hw_compiler:\n  steps: [saying]\n")

    def words(fails=False):
        (elsewhere / "plugins" / "saying.py").write_text(SAYING.replace("FAILS", str(fails)))
        return [*job, "--no-verify", "--no-report"]

    return words


def lines_of(file):
    """The lines of a log without their times."""
    return [
        re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ", "", line) for line in file.read_text().splitlines()
    ]


def test_quiet_prints_warnings_and_errors_only(saying, capsys):
    assert main([*saying(), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.partition(":")[0] for line in shown.err.splitlines()] == ["shortfall"]


@pytest.mark.parametrize("verb", ["run", "compare"])
def test_quiet_leaves_the_exit_code(verb, x, capsys):  # noqa: F811
    option = ["--target", "numpy"] if verb == "run" else ["--targets", "reference,numpy"]
    assert main([verb, MODEL, *option, "--input", x, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_verbose_prints_what_steps_say(saying, capsys, monkeypatch):
    monkeypatch.setattr(runner, "FRAMEWORKS", ("project",))  # as it is for steps of the frameworks
    assert main([*saying(), "--verbose"]) == 0
    shown = capsys.readouterr()
    assert "printed" not in shown.out
    said = [line for line in shown.err.splitlines() if line.startswith(("brainsmith.build.messages", "finn"))]
    assert said == [
        "brainsmith.build.messages: printed",
        "finn.it: logged",
        "brainsmith.build.messages: in two parts",
    ]


def test_what_is_shown_is_not_printed_twice(saying, capsys):
    assert main([*saying(), "--verbose"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("printed\nin two parts")
    assert "printed" not in shown.err


def test_a_log_file_has_all_of_it(saying, elsewhere, capsys):
    words = saying()
    assert main([*words, "--quiet", "--log-file", "it.log"]) == 0
    lines = lines_of(elsewhere / "it.log")
    assert (
        lines[0] == f"DEBUG brainsmith: version 0.1.0: brainsmith {' '.join(words)} --quiet --log-file it.log"
    )
    lines = [line for line in lines if " brainsmith.plugin: " not in line]
    assert lines[1:4] == [
        "DEBUG brainsmith.build.messages: printed",
        "INFO finn.it: logged",
        "DEBUG brainsmith.build.messages: in two parts",
    ]
    assert lines[4].startswith("INFO brainsmith.cli: [1/1] saying  ")
    assert f"INFO brainsmith.cli: output     {elsewhere}/out" in lines
    assert lines[-2].startswith("INFO brainsmith.cli: shortfall: nothing was verified: ")
    assert re.fullmatch(r"DEBUG brainsmith: done after \d+\.\d s", lines[-1])
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.splitlines())) == ("", 1)
    root = logging.getLogger()
    assert root.level == logging.WARNING and logging.getLogger("brainsmith").level == logging.NOTSET


def test_where_an_error_comes_from_is_for_the_log(saying, elsewhere, capsys):
    assert main([*saying(fails=True), "--log-file", "it.log"]) == 1
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err and "step 'saying' failed: ZeroDivisionError: why" in shown.err
    lines = lines_of(elsewhere / "it.log")
    assert any(
        re.match(r"DEBUG brainsmith: exit code 1 after \d+\.\d s: step 'saying' failed", line)
        for line in lines
    )
    assert "ZeroDivisionError: why" in lines
    assert any(line.endswith('plugins/saying.py", line 14, in saying') for line in lines)
    assert main([*saying(fails=True), "--verbose"]) == 1
    assert "Traceback (most recent call last):" in capsys.readouterr().err


def test_warnings_of_libraries_are_printed_as_without_a_log(elsewhere, capsys):
    (elsewhere / "good.yaml").write_text("hw_compiler:\n  steps: [cleanup]\n")
    from brainsmith.cli import log_options as log

    for handlers in ([], [logging.NullHandler()]):
        root = logging.getLogger()
        before, root.handlers[:] = root.handlers[:], []
        try:
            with log._attached([*handlers, log._LastResort(len(handlers) + 1)]):
                logging.getLogger("acme").warning("look here")
        finally:
            root.handlers[:] = before
        assert capsys.readouterr().err == "look here\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--quiet", "--verbose"], 2, "--quiet and --verbose exclude each other"),
        (
            ["--log-file", "no/it.log"],
            1,
            "--log-file: no/it.log cannot be written: No such file or directory",
        ),
        (["--log-file", "."], 1, "--log-file: . cannot be written: Is a directory"),
    ],
)
def test_mistakes_are_one_message(words, code, message, elsewhere, capsys):
    (elsewhere / "good.yaml").write_text("hw_compiler:\n  steps: [cleanup]\n")
    assert main(["blueprint", "check", "good.yaml", *words]) == code
    assert capsys.readouterr() == ("", f"error: {message}\n")


@pytest.mark.slow
def test_on_a_pipe_nothing_changes_without_the_options(elsewhere):
    (elsewhere / "good.yaml").write_text("hw_compiler:\n  steps: [cleanup]\n")
    plain = brainsmith("blueprint", "check", "good.yaml")
    logged = brainsmith("blueprint", "check", "good.yaml", "--log-file", "it.log")
    assert (plain.stdout, plain.stderr) == (logged.stdout, logged.stderr)
    printed = [line.removeprefix("INFO brainsmith.cli: ") for line in lines_of(elsewhere / "it.log")]
    assert set(plain.stdout.splitlines()) <= set(printed)
