"""Warnings of Python and of frameworks, as commands print them."""

import os
import subprocess
import sys

from brainsmith.cli.warning_lines import one_line


def test_a_frameworks_warning_is_one_line():
    text = one_line("Assuming 2D\n input is NC", UserWarning, "/a/b/qonnx/transformation/layouts.py", 160)
    assert text == "warning: Assuming 2D input is NC (qonnx/transformation/layouts.py:160)\n"


def test_a_warning_of_a_plugin_does_nothing_to_a_terminal_whatever_the_command(project):
    (project / "plugins" / "warner.py").write_text(
        "import warnings\n\nfrom brainsmith import target\n\n"
        "warnings.warn('a layer\\x1b]0;owned\\x07')\n\n\n@target\nclass Own:\n    pass\n",
    )
    command = [sys.executable, "-m", "brainsmith", "targets"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert "warning: a layer\\x1b]0;owned\\x07 (" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
