"""The documentation is true: its commands and code blocks run, and nothing public is left out."""

import importlib.util
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from brainsmith import errors, settings
from brainsmith.setting_checks import CHECKS

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return [text for found, text in BLOCK.findall((ROOT / page).read_text()) if found == language]


@pytest.fixture
def project(tmp_path):
    """A project with this repository's examples and blueprints."""
    for name in ("examples", "blueprints"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".brainsmith").mkdir()
    return tmp_path


def tried(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


def run(command: list[str], cwd: Path) -> str:
    """Run a command, which must succeed; return what it prints."""
    done = tried(command, cwd)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


FILE = re.compile(r"`([\w/]+\.(?:py|yaml))`:\n\n\Z")


def follow(page: str, project: Path) -> dict[str, str]:
    """Do what a page says, from its begin to its end; return what its commands printed.

    A block behind the name of a file is written there; other blocks in Python are run, and commands of ours.
    """
    text, printed, at = (ROOT / page).read_text(), {}, 0
    for block in BLOCK.finditer(text):
        language, content = block.groups()
        named = FILE.search(text[at : block.start()])
        at = block.end()
        if named:
            file = project / named.group(1)
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)
        elif language == "python":
            run([sys.executable, "-c", content], project)
        elif language == "sh":
            commands = [line for line in content.splitlines() if line.startswith("brainsmith ")]
            printed |= {line: run(shlex.split(line, comments=True), project) for line in commands}
    return printed


@pytest.mark.slow
def test_the_first_ten_minutes_of_the_readme(project):
    printed = follow("README.md", project)
    build = "brainsmith build examples/digits/mlp.onnx --blueprint blueprints/digits_mlp_rtl.yaml --output out/digits_mlp"
    assert "accuracy   96.39 % after the build, 96.39 % before (360 samples)" in printed[build]
    circuit = "circuit    0 of 360 frames differ from the input model; with stalls 0 of 1,080 frames differ"
    assert circuit in printed[build]
    assert (project / "out" / "digits_mlp" / "report.html").stat().st_size > 10_000
    (again,) = (text for line, text in printed.items() if line.startswith("brainsmith simulate"))
    assert "360 of 360 frames with golden inputs have the golden outputs" in again
    assert np.load(project / "out" / "y.npy").shape == (360, 1, 10)
    assert "<svg" in (project / "out" / "wave.svg").read_text()
    assert "CountNodes" in printed["brainsmith plugins list --framework project"]
    mine = "brainsmith build examples/digits/mlp.onnx --blueprint blueprints/mine.yaml --output out/mine"
    assert re.search(r"\d+ MatMul", printed[mine]), printed[mine]
    own = "brainsmith build mine.onnx --blueprint blueprints/my_model.yaml --output out/my_model"
    assert "circuit    0 of 100 frames differ from the input model" in printed[own]
    assert "proven     yes" in printed[own]
    fitted = printed["brainsmith build mine.onnx --fit pynq-z2"]
    shown = re.findall(
        r"^    (.+)", (ROOT / "README.md").read_text().split("--fit pynq-z2\n```")[1], re.MULTILINE
    )
    expected = [re.sub(r"proven in .*", "proven in", line) for line in shown[:5]]
    assert [line.split()[0] for line in expected] == ["cycles", "resources", "rate", "fit", "device"]
    assert [line for line in expected if line not in fitted] == [], fitted
    for name, picture in (
        load("docs/pictures/draw.py").circuit_pictures(project / "out" / "digits_mlp").items()
    ):
        shipped = (ROOT / "docs" / "pictures" / name).read_text()
        assert picture.rstrip() == shipped.rstrip(), f"python docs/pictures/draw.py out/digits_mlp: {name}"


@pytest.mark.slow
def test_the_commands_of_the_page_of_foldings(project):
    printed = follow("docs/fit.md", project)
    fitted, front = printed.values()
    assert "fit        the smallest interval within 80 % of xc7z020, proven in " in fitted
    assert (project / "out" / "cnn" / "report.html").stat().st_size > 10_000
    assert "circuits" in front
    (refused,) = blocks("docs/fit.md", "console")
    command, message = refused.removeprefix("$ ").split("\n", 1)
    done = tried(shlex.split(command), project)
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.slow
def test_the_commands_and_the_code_of_the_page_of_monitoring(project):
    follow("docs/monitoring.md", project)
    assert "brainsmith_plugins{" in (project / "brainsmith.prom").read_text()
    assert (project / "out" / "mlp" / "report.html").stat().st_size > 10_000


def test_what_the_readme_has_one_write_is_neither_committed_nor_checked():
    """Git and ruff, which reads this file too, pass it by: `make check` passes in a copy where all of it was done."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    page = (ROOT / "README.md").read_text()
    folders = {f"/{name}/" for name in re.findall(r"`(\w+)/\w+\.py`:\n\n```", page)}
    files = {f"/{name}" for name in re.findall(r"\"(mine[\w.]+)\"", page)}
    assert folders == {"/plugins/"}
    assert files == {"/mine.onnx", "/mine_x.npy"}
    assert folders | files <= set(ignored)


def load(script: str) -> ModuleType:
    """Import a script that is in no package."""
    spec = importlib.util.spec_from_file_location(Path(script).stem, ROOT / script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pictures_of_the_readme_are_there():
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert shown == ["docs/pictures/digits_mlp_blocks.svg", "docs/pictures/digits_mlp_wave.svg"]
    assert all((ROOT / name).read_text().startswith("<svg ") for name in shown)


def test_the_drawing_of_the_front_end_is_what_the_step_finds():
    drawn = load("docs/pictures/draw_integer.py")
    assert drawn.thresholds() == ([6, 11, 18], -15, 30)  # of which docs/integer.md says why they are not even
    assert drawn.picture() == drawn.FILE.read_text(), "python docs/pictures/draw_integer.py"
    assert "(pictures/integer_layer.svg)" in (ROOT / "docs" / "integer.md").read_text()


def test_the_readme_names_two_commands_that_make_knows(project):
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^make (\S+)", "\n".join(blocks("README.md", "sh")), re.MULTILINE)
    assert named == ["example", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named)


def test_the_first_page_and_the_citation_agree_with_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (package["version"], package["license"])
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what the format asks for
    least = package["requires-python"].removeprefix(">=")
    assert f"On a machine with Python {least} or newer, g++, make" in (ROOT / "README.md").read_text()
    assert f"Python {least} or newer is needed" in (ROOT / "Makefile").read_text()


@pytest.mark.slow
def test_the_code_of_the_api_reference_runs(project):
    program = "\n".join(blocks("docs/api.md", "python"))
    run([sys.executable, "-c", program], project)


def test_what_a_step_declares_of_its_results_is_taken():
    program = "\n".join(blocks("docs/report.md", "python"))
    run([sys.executable, "-c", f"{program}\nassert stamped and tabulated and generated"], ROOT)


@pytest.mark.slow
def test_the_code_of_the_page_of_ops_runs(project):
    """Its blocks marked `py` need torch, and follow the others where that is installed."""
    program = "\n".join(blocks("docs/ops.md", "python"))
    if importlib.util.find_spec("torch"):
        program += "\n".join(["", *blocks("docs/ops.md", "py")])
    printed = run([sys.executable, "-c", program], project)
    assert "leaky_relu: backward is the derivative of forward at 10 points, 108 elements;" in printed
    assert "Operation 'leaky_relu' expects 1 input, got 2\n" in printed


@pytest.mark.parametrize(
    "page", sorted(str(p.relative_to(ROOT)) for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
)
def test_links_between_pages_lead_somewhere(page):
    folder = (ROOT / page).parent
    dead = [
        link
        for link in LINK.findall((ROOT / page).read_text())
        if "://" not in link and not (folder / link).exists()
    ]
    assert dead == []


def test_every_page_is_in_the_navigation_of_the_site_and_is_there():
    """mkdocs.yml names each page, or the folder that it is in. Pages of the reference are made."""
    links, site = load("tools/site/site_links.py"), load("tools/site/site_navigation.py")
    pages = {links.address(path) for path in links.shown_files(ROOT)}
    pages = {page for page in pages if page.endswith(".md") and not page.startswith("source/")}
    nav = re.search(r"^nav:\n(.*)", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE | re.DOTALL).group(1)
    named = set(site.named_pages(site.navigation(yaml.safe_load(nav), sorted(pages))))
    assert len(pages) > 60
    assert {page for page in named if not page.startswith("reference/")} == pages, "nav in mkdocs.yml"


def test_every_error_is_documented():
    page = (ROOT / "docs" / "errors.md").read_text()
    names = [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == errors.__name__
    ]
    assert [name for name in names if f"`{name}`" not in page and f".{name}`" not in page] == []


def test_every_setting_and_variable_is_documented():
    page = (ROOT / "docs" / "settings.md").read_text()
    assert [name for name in CHECKS if f"| `{name}` |" not in page] == []
    read = set(re.findall(r"\"([A-Z][A-Z_]{3,})\"", inspect.getsource(settings)))
    documented = set(re.findall(r"`\$?([A-Z][A-Z_]{3,})`", page))
    assert {
        name for name in read if name.startswith(("BRAINSMITH_", "XDG_", "NO_", "FINN_"))
    } - documented == set()


def test_no_public_name_of_the_door_is_undocumented():
    import brainsmith.plugins

    page = (ROOT / "docs" / "api.md").read_text()
    assert [name for name in brainsmith.plugins.__all__ if name not in page] == []
