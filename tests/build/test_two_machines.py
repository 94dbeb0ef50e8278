"""Two builds of the same on two machines, as far as one machine can be two: their accelerators are equal byte for byte."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.build.provenance import check_provenance
from tests.cli.command import ROOT

PLUGIN = """\
from brainsmith import step


@step
def keep(model, cfg):
    return model
"""

MACHINES = {
    "one": {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1", "COLUMNS": "80"},
    "a much longer name": {
        "LC_ALL": "C.UTF-8",
        "TZ": "Pacific/Chatham",
        "PYTHONHASHSEED": "77",
        "COLUMNS": "200",
    },
}


def built(home, variables, umask):
    """Build the digits in a project of a home of its own, with empty caches; return the output folder."""
    project = home / "project"
    (project / ".brainsmith").mkdir(parents=True)
    (project / "plugins").mkdir()
    (project / "plugins" / "keep.py").write_text(PLUGIN)
    shutil.copytree(ROOT / "examples" / "digits", project / "examples" / "digits")
    shutil.copytree(ROOT / "blueprints", project / "blueprints")
    (project / "b.yaml").write_text(
        "extends: blueprints/digits_mlp_rtl.yaml\n"
        "hw_compiler: {output: simulated, change_steps: [{insert: keep, after: cleanup}]}\n"
    )
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), **variables}
    program = f"import os; os.umask({umask}); from brainsmith.cli.main import main; raise SystemExit(main())"
    words = ["build", "examples/digits/mlp.onnx", "--blueprint", "b.yaml", "--output", f"out of {home.name}"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return project / f"out of {home.name}"


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_their_accelerators_are_equal_byte_for_byte(tmp_path):
    outputs = [
        built(Path(tmp_path) / name, variables, umask)
        for (name, variables), umask in zip(MACHINES.items(), (0o022, 0o077), strict=True)
    ]
    first, second = (contents(output / "accelerator") for output in outputs)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.endswith(".sv") or name.endswith(".v") for name in first)
    found = check_provenance(outputs[1] / "accelerator", outputs[0] / "provenance.json")
    assert (found.is_whole, found.new, found.same) == (True, (), len(first))
