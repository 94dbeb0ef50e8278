"""Child processes: what they print, and what is said when they fail."""

import sys

import pytest

from brainsmith.errors import ToolError
from brainsmith.plugin.processes import run, run_python


def test_what_a_program_prints_is_returned():
    assert run([sys.executable, "-c", "print(input())"], timeout=30, input_text="hello\n") == "hello\n"


def test_a_python_program_has_this_one_s_search_path(site):
    site.write("only_here.py", "VALUE = 7\n")
    assert run_python("import only_here; print(only_here.VALUE)", timeout=30, what="it") == "7\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program", "x"], "no-such-program cannot be started: 'no-such-program' is not there"),
        (
            [sys.executable, "-c", "import sys; sys.exit(3)"],
            f"{sys.executable} failed with exit code 3: it printed nothing",
        ),
        (
            [sys.executable, "-c", "raise ValueError('why')"],
            f"{sys.executable} failed with exit code 1: ValueError: why",
        ),
        (
            [sys.executable, "-c", "import time; time.sleep(60)"],
            f"{sys.executable} did not end within 1 seconds",
        ),
    ],
)
def test_a_failure_says_what_and_why(command, message):
    with pytest.raises(ToolError) as caught:
        run(command, timeout=1)
    assert str(caught.value) == message


def test_no_shell_is_involved(tmp_path):
    assert (
        run([sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo x"], timeout=30)
        == "$HOME; echo x\n"
    )
