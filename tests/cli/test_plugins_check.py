"""`brainsmith plugins check`."""

import pytest

from brainsmith.cli.main import main
from brainsmith.plugin.adapters.brainsmith import PLUGIN_FOLDERS
from tests.cli.command import ROOT, TRANSFORM, brainsmith

WRONG = """\
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import backend, step, transform

STAGES = ["tidy"]


@transform(stage=STAGES[0])
class Computed(Transformation):
    pass


@transform(stage="tidy", nmae="Other")
class Misspelt(Transformation):
    pass


@transform(stage="tidy")
class Alone:
    pass


@backend(kernel="LayerNrom", backend_type="hls")
class WrongBase(Transformation):
    pass


@step
def short(model):
    return model


@kernel
class Unbound:
    pass


GROUPS = {"neat": ["Alone", "Streamlin"]}
"""


def test_everything_wrong_in_a_file_is_said_at_once(elsewhere, capsys):
    (elsewhere / "wrong.py").write_text(WRONG)
    assert main(["plugins", "check", "wrong.py"]) == 1
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == (
        "wrong.py:8: stage= of @transform must be a literal, because discovery does not run plugin code; found STAGES[0]\n"
        "wrong.py:13: @transform has no keyword 'nmae'. Did you mean 'name'?\n"
        "  it takes name, version, description, author, license, min_brainsmith, max_brainsmith, requires,"
        " requires_plugins, tags, priority, override, stage, kernel, cache, inputs\n"
        "wrong.py:18: @transform needs a subclass of qonnx's Transformation, not the class Alone()\n"
        "wrong.py:23: @backend needs a subclass of FINN's HLSBackend or RTLBackend, not the class"
        " WrongBase(Transformation)\n"
        "wrong.py:23: kernel= of @backend on 'WrongBase': no kernel named 'LayerNrom'."
        " Did you mean 'LayerNorm'?\n"
        "wrong.py:28: @step needs a function (model, cfg) -> model; short takes 1 argument\n"
        "wrong.py:33: @kernel is not imported, so the file's plugins cannot be loaded: from brainsmith import kernel\n"
        "wrong.py:38: group 'neat': no transform named 'Alone'\n"
        "wrong.py:38: group 'neat': no transform named 'Streamlin'. Did you mean 'Streamline'?\n"
        "hint: wrong.py:23: 'WrongBase' usually is in wrong_base.py\n"
        "0 plugins in 1 file, 9 problems\n"
    )


def test_a_good_file_says_what_it_registers(project, capsys):
    assert main(["plugins", "check", "plugins/keep_all.py"]) == 0
    assert capsys.readouterr().out == (
        "registers transform project:KeepAll (stage tidy)  plugins/keep_all.py:6\n1 plugin in 1 file, no problems\n"
    )


@pytest.mark.slow
def test_loading_shows_the_plugins_own_error(project):
    (project / "plugins" / "fails.py").write_text(
        "from brainsmith.plugin.core import step\n\nimport no_such_module\n\n\n"
        "@step\ndef fails(model, cfg):\n    return model\n"
    )
    assert brainsmith("plugins", "check", "plugins").returncode == 0
    done = brainsmith("plugins", "check", "plugins", "--load")
    problem, loads, summary = done.stdout.splitlines()
    assert problem.startswith(
        "plugins/fails.py:6: step 'project:fails' (plugins/fails.py:6) cannot be loaded: importing "
    )
    assert problem.endswith(
        "raised ModuleNotFoundError: No module named 'no_such_module' (plugins/fails.py:3)"
    )
    assert loads == "loads transform project:KeepAll (stage tidy)  plugins/keep_all.py:6"
    assert (summary, done.returncode, done.stderr) == ("1 plugin in 2 files, 1 problem", 1, "")


def test_a_plugin_that_ends_the_process_does_not_end_the_check(elsewhere):
    (elsewhere / "quits.py").write_text(
        "from brainsmith.plugin.core import step\nraise SystemExit(0)\n@step\ndef quits(model, cfg): return model\n"
    )
    done = brainsmith("plugins", "check", "quits.py", "--load")
    assert done.returncode == 1
    assert done.stdout.endswith(" raised SystemExit: 0 (quits.py:2)\n0 plugins in 1 file, 1 problem\n")


@pytest.mark.slow
def test_a_file_outside_every_project_loads_too(elsewhere):
    (elsewhere / "keep_all.py").write_text(TRANSFORM)
    done = brainsmith("plugins", "check", str(elsewhere / "keep_all.py"), "--load")
    assert done.stdout == (
        "loads transform project:KeepAll (stage tidy)  keep_all.py:6\n1 plugin in 1 file, no problems\n"
    )


@pytest.mark.slow
def test_files_of_a_package_import_each_other(elsewhere):
    package = elsewhere / "acme_check"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "base.py").write_text(
        "from qonnx.transformation.base import Transformation\n\n\nclass Base(Transformation):\n"
        "    def apply(self, model):\n        return model, False\n"
    )
    (package / "derived.py").write_text(
        "from brainsmith.plugin.core import transform\n\nfrom .base import Base\n\n\n"
        '@transform(stage="tidy")\nclass Derived(Base):\n    pass\n'
    )
    done = brainsmith("plugins", "check", "acme_check", "--load")
    assert (done.returncode, done.stdout) == (
        0,
        "loads transform project:Derived (stage tidy)  acme_check/derived.py:6\n1 plugin in 3 files, no problems\n",
    )


@pytest.mark.slow
def test_a_clash_with_what_is_there_already(project, capsys):
    copy = project / "copies" / "keep_all.py"
    copy.parent.mkdir()
    copy.write_text(TRANSFORM)
    assert main(["plugins", "check", "copies"]) == 1
    assert capsys.readouterr().out == (
        "copies/keep_all.py:6: transform 'KeepAll' is defined twice in framework 'project':\n"
        f"  {project}/plugins/keep_all.py:6\n"
        f"  {project}/copies/keep_all.py:6\n"
        "0 plugins in 1 file, 1 problem\n"
    ).replace(f"  {project}/copies/keep_all.py:6", "  copies/keep_all.py:6")
    copy.write_text(TRANSFORM.replace('stage="tidy"', 'stage="tidy", override=True'))
    assert main(["plugins", "check", "copies"]) == 0


def test_hints_name_what_is_unusual(elsewhere, capsys):
    (elsewhere / "mine.py").write_text(TRANSFORM.replace("KeepAll", "Streamline"))
    assert main(["plugins", "check", "mine.py"]) == 0
    assert capsys.readouterr().out == (
        "hint: mine.py:6: 'Streamline' usually is in streamline.py\n"
        "hint: mine.py:6: the bare name 'Streamline' means this transform, not finn:Streamline\n"
        "registers transform project:Streamline (stage tidy)  mine.py:6\n"
        "1 plugin in 1 file, no problems\n"
    )


def test_files_that_are_none(elsewhere, capsys):
    (elsewhere / "notes.txt").write_text("")
    (elsewhere / "empty").mkdir()
    (elsewhere / "plain.py").write_text("x = 1\n")
    (elsewhere / "bad.py").write_text("x = \n")
    for path, expected in (
        ("nowhere.py", f"error: {elsewhere}/nowhere.py: there is no such file or folder\n"),
        (
            "notes.txt",
            f"error: {elsewhere}/notes.txt: plugins are Python files: its name must end in .py, or be plugin.json\n",
        ),
    ):
        assert main(["plugins", "check", path]) == 2
        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("", expected)
    assert main(["plugins", "check", "empty"]) == 0
    assert capsys.readouterr().out == "no decorated plugin in 0 files\n"
    assert main(["plugins", "check", "plain.py"]) == 0
    assert capsys.readouterr().out == "no decorated plugin in 1 file\n"
    assert main(["plugins", "check", "bad.py"]) == 1
    assert capsys.readouterr().out == (
        "bad.py:1:5: the file is not Python, so its plugins are not found: invalid syntax\n0 plugins in 1 file, 1 problem\n"
    )


@pytest.mark.slow
def test_files_that_cannot_be_read_do_not_hide_the_others(elsewhere, capsys):
    folder = elsewhere / "odd"
    folder.mkdir()
    (folder / "dangling.py").symlink_to(elsewhere / "nowhere.py")
    (folder / "folder.py").mkdir()
    (folder / "keep_all.py").write_text(TRANSFORM)
    (folder / "latin.py").write_bytes(b'x = "\xe9"\n')
    (folder / "loop").symlink_to(folder)
    (folder / "nulls.py").write_bytes(b"\xff\xfe\x00")
    assert main(["plugins", "check", "odd"]) == 1
    problems = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    assert [(place.partition(":")[0], text) for place, _, text in problems[:2]] == [
        ("odd/dangling.py", "the file cannot be read: No such file or directory"),
        ("odd/folder.py", "the file cannot be read: it is a folder, a pipe or a device"),
    ]
    assert [place.partition(":")[0] for place, _, _ in problems[2:4]] == ["odd/latin.py", "odd/nulls.py"]
    assert all(
        text.startswith("the file is not Python, so its plugins are not found: ")
        for _, _, text in problems[2:4]
    )
    assert problems[4][0].startswith("registers transform project:KeepAll ")
    assert len(problems) == 6  # the folder that leads to itself is read once


@pytest.mark.parametrize("folder", [*PLUGIN_FOLDERS, pytest.param("", marks=pytest.mark.slow, id="all")])
def test_our_own_plugins_have_no_problems_and_usual_names(capsys, folder):
    assert main(["plugins", "check", str(ROOT / "brainsmith" / folder)]) == 0
    shown = capsys.readouterr().out
    if folder in ("transforms", ""):
        assert "registers transform brainsmith:ExpandNorms (stage topology_opt)" in shown
    assert shown.endswith("files, no problems\n")
    assert "usually is in" not in shown
    assert "usual is one" not in shown
