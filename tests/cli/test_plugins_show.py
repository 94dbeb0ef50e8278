"""`brainsmith plugins show`."""

import os
import subprocess
import sys

import pytest

from brainsmith.cli.main import main
from tests.cli.command import brainsmith


def test_a_plugin_of_finn_with_parameters_docstring_file_and_line(capsys):
    assert main(["plugins", "show", "finn:SetFolding"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "transform finn:SetFolding"
    facts = dict(line.strip().split(None, 1) for line in lines if line.startswith("  ") and line.strip())
    assert facts["object"] == "finn.transformation.fpgadataflow.set_folding:SetFolding"
    path, _, line = facts["origin"].rpartition(":")
    assert path.endswith("finn/transformation/fpgadataflow/set_folding.py")
    with open(path) as file:
        assert file.read().splitlines()[int(line) - 1].startswith("class SetFolding(")
    assert facts["parameters"] == "target_cycles_per_frame: int = 1000"
    assert "              mvau_wwidth_max: int = 36" in lines
    assert any(line.startswith("    Attempt to set parallelism attributes") for line in lines)


def test_showing_imports_no_framework():
    program = (
        "from brainsmith.cli.main import main\nimport sys\n"
        "main(['plugins', 'show', 'finn:Streamline'])\n"
        "print([name for name in ('numpy', 'onnx', 'qonnx', 'finn', 'yaml') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert done.stdout.startswith("transform finn:Streamline\n")


def test_a_plugin_of_the_project(project, capsys):
    assert main(["plugins", "show", "KeepAll"]) == 0
    shown = capsys.readouterr().out
    folder = project / "plugins"
    module = shown.partition("object       ")[2].partition(":")[0]
    assert shown == (
        "transform project:KeepAll\n"
        "  description  Keep all as it is\n"
        "  stage        tidy\n"
        "  import as    transforms.project.KeepAll\n"
        f"  object       {module}:KeepAll\n"
        f"  origin       {folder}/keep_all.py:6\n"
        f"  folder       {folder}\n"
        "  bases        Transformation\n"
        "  parameters   times: int = 1\n"
        "\n"
        "    Return the model.\n"
    )


def test_a_plugin_that_cannot_be_used_here_says_why(project, capsys):
    def write(name, **stated):
        words = ", ".join(f"{key}={value!r}" for key, value in stated.items())
        text = f"from brainsmith import step\n\n\n@step({words})\ndef {name}(model, cfg): ...\n"
        (project / "plugins" / f"{name}.py").write_text(text)

    def shown(name):
        assert main(["plugins", "show", f"project:{name}"]) == 0
        return [line.strip() for line in capsys.readouterr().out.splitlines()]

    write("lacking", requires=["nowhere"])
    write("one", requires_plugins=["two"])
    write("two", requires_plugins=["one", "three"])
    why = "it requires nowhere, which is not installed: pip install 'nowhere'"
    assert f"cannot be used  {why}" in shown("lacking")
    assert shown("one")[-4:] == [
        "step project:one",
        "└─ step:two: project:two",
        "├─ step:one: project:one, which requires this: plugins that require each other cannot be used",
        "└─ step:three: no step named 'three'",
    ]


def test_a_kernel_shows_its_backends_and_a_backend_its_kernel(capsys):
    assert main(["plugins", "show", "finn:MVAU"]) == 0
    shown = capsys.readouterr().out
    assert "finn:MVAU_hls (hls), finn:MVAU_rtl (rtl)\n" in shown
    assert "\n  node        MVAU of finn.custom_op.fpgadataflow\n" in shown
    assert main(["plugins", "show", "DuplicateStreamsRTL"]) == 0
    shown = capsys.readouterr().out
    assert "\n  kernel        finn:DuplicateStreams\n" in shown
    assert "\n  node          DuplicateStreams_rtl of finn.custom_op.fpgadataflow.rtl\n" in shown
    assert main(["plugins", "show", "LayerNormHLS"]) == 0
    shown = capsys.readouterr().out
    assert "\n  kernel        LayerNorm\n" in shown
    assert "\n  backend type  hls\n" in shown
    assert "\n  requires      finn-plus\n" in shown


def test_a_name_of_several_frameworks_shows_all_and_what_it_means(capsys):
    assert main(["plugins", "show", "MoveAddPastFork"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("transform")] == [
        "transform finn:MoveAddPastFork",
        "transform qonnx:MoveAddPastFork",
    ]
    assert lines[-1] == (
        "The bare name 'MoveAddPastFork' is ambiguous for a transform: write finn:MoveAddPastFork or"
        " qonnx:MoveAddPastFork."
    )
    assert main(["plugins", "show", "LayerNorm", "--type", "kernel"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("kernel")] == [
        "kernel brainsmith:LayerNorm",
        "kernel finn:LayerNorm",
    ]
    assert lines[-1] == "The bare name 'LayerNorm' means the kernel brainsmith:LayerNorm."


def test_a_name_of_several_types_shows_all(project, capsys):
    (project / "plugins" / "twin.py").write_text(
        "from brainsmith.plugin.core import step\n@step\ndef KeepAll(model, cfg): return model\n"
    )
    assert main(["plugins", "show", "KeepAll"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(" project:KeepAll")] == [
        "transform project:KeepAll",
        "step project:KeepAll",
    ]
    assert main(["plugins", "show", "KeepAll", "--type", "step"]) == 0
    assert capsys.readouterr().out.startswith("step project:KeepAll\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ExpandNorm"], "no plugin named 'ExpandNorm'. Did you mean 'ExpandNorms'?"),
        (
            ["finn:ExpandNorms"],
            "no plugin named 'ExpandNorms' in 'finn'. Did you mean 'brainsmith:ExpandNorms'?",
        ),
        (
            ["ExpandNorms", "--type", "step"],
            "no step named 'ExpandNorms' (there is a transform of that name)",
        ),
        (["qqqqqqqqq"], "no plugin named 'qqqqqqqqq'"),
        (["finn:"], "no plugin named '' in 'finn'"),
        ([":"], "no plugin named ''"),
    ],
)
def test_an_unknown_name_suggests_close_ones(words, message, capsys):
    assert main(["plugins", "show", *words]) == 1
    shown = capsys.readouterr()
    first, second = shown.err.splitlines()
    assert (shown.out, first) == ("", f"error: {message}")
    assert second.endswith(
        " are registered: brainsmith plugins list" + (" --type step" if "step" in words else "")
    )


def test_a_clash_names_both_places(project):
    (project / "plugins" / "twice.py").write_text((project / "plugins" / "keep_all.py").read_text())
    done = brainsmith("plugins", "show", "KeepAll")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: transform 'KeepAll' is defined twice in framework 'project':\n"
        f"  {project}/plugins/keep_all.py:6\n"
        f"  {project}/plugins/twice.py:6\n"
    )


def test_a_second_definition_in_a_framework_has_a_longer_name(capsys):
    assert main(["plugins", "show", "transformer_adhoc.step_convert_to_hw"]) == 0
    shown = capsys.readouterr().out
    assert '\n  import as   steps["finn:transformer_adhoc.step_convert_to_hw"]\n' in shown
    assert f"{os.sep}build_dataflow_steps.py:" in shown.partition("second of")[2].partition("\n")[0]
