"""Shell completion: what the shells evaluate, and what they are then answered."""

import subprocess
import sys

import pytest

from brainsmith.cli.main import main
from tests.cli.command import brainsmith


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_code(shell, capsys):
    assert main(["completion", shell]) == 0
    shown = capsys.readouterr()
    assert "_ARGCOMPLETE" in shown.out and "brainsmith" in shown.out
    assert shown.err == ""


def test_bash_accepts_the_code():
    code = brainsmith("completion", "bash").stdout
    done = subprocess.run(
        ["bash", "-c", f"{code}\ncomplete -p brainsmith"], capture_output=True, text=True, check=True
    )
    assert "_python_argcomplete" in done.stdout


def completions(line, tmp_path):
    """Ask for completions as the shells' code does."""
    answer = tmp_path / "answer"
    done = brainsmith(
        COMP_LINE=line, COMP_POINT=str(len(line)), _ARGCOMPLETE="1", _ARGCOMPLETE_IFS="\n",
        _ARGCOMPLETE_STDOUT_FILENAME=str(answer), _ARGCOMPLETE_SUPPRESS_SPACE="1",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return [word for word in answer.read_text().split("\n") if word]


CASES = {
    "brainsmith pl": ["plugins", "plan"],
    "brainsmith help bu": ["build"],
    "brainsmith plugins s": ["show", "stubs", "support"],
    "brainsmith plugins show finn:Streaml": ["finn:Streamline"],
    "brainsmith plugins show ExpandN": ["ExpandNorms"],
    "brainsmith plugins show --type step clean": ["cleanup"],
    "brainsmith plugins list --type b": ["backend", "bundle"],
    "brainsmith plugins list --framework ": ["brainsmith", "finn", "qonnx"],
    "brainsmith plugins list --stage topo": ["topology_opt"],
    "brainsmith build --verify-": ["--verify-inputs", "--verify-labels", "--verify-expected"],
    "brainsmith completion ": ["bash", "zsh", "fish"],
}


@pytest.mark.parametrize("line", CASES)
def test_words_are_completed(line, tmp_path):
    found = completions(line, tmp_path)
    assert [word for word in found if word not in ("-h", "--help")] == CASES[line]


def test_files_and_folders_are_completed(elsewhere, tmp_path):
    (elsewhere / "net.onnx").write_bytes(b"")
    (elsewhere / "out").mkdir()
    assert completions("brainsmith build ne", tmp_path) == ["net.onnx"]
    assert completions("brainsmith build net.onnx --output o", tmp_path) == ["out/"]


def test_argcomplete_is_imported_only_when_the_shell_asks():
    program = (
        "import sys\nfrom brainsmith.cli.main import main\nmain(['plugins', 'list'])\n"
        "print('argcomplete' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
