"""`--json`: one document on standard output, whatever happens."""

import json
import os
import subprocess

import numpy as np
import pytest

from brainsmith import __version__
from brainsmith.cli import stats
from brainsmith.cli.document import document, error_fields, plain
from brainsmith.cli.main import main
from brainsmith.cli.verbs import VERBS
from brainsmith.errors import (
    BlueprintError,
    NotProvenError,
    PluginDefinitionError,
    Problem,
    SettingsError,
    UsageError,
    VerificationError,
)
from tests.cli.command import COMMAND, ROOT, brainsmith
from tests.cli.test_build import job  # noqa: F401  (a fixture)
from tests.cli.test_target_verbs import MODEL, x  # noqa: F401  (a fixture)

NOWHERE = {"file": None, "line": None, "column": None, "step": None}
TAKERS = [verb for verb in VERBS if "--json" in [argument.name for argument in verb.arguments]]


def given(words, capsys):
    """Run a command in this process; return its exit code, its document, and what went to standard error."""
    status = main(words)
    shown = capsys.readouterr()
    return status, json.loads(shown.out), shown.err


def test_these_verbs_take_it():
    assert [" ".join(verb.words) for verb in TAKERS] == [
        "plugins list", "plugins support", "catalogue", "blueprint check", "blueprint show", "build", "diff", "verify",
        "lock", "plan", "explore", "run", "compare", "targets", "trust list", "cache list", "cache show", "cache why",
        "cache push", "cache pull", "cache prune", "cache clear", "health", "env list", "stats",
    ]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: " ".join(verb.words))
def test_a_usage_error_is_a_document_too(verb, capsys):
    status, found, err = given([*verb.words, "--json", "--bogus"], capsys)
    option = "--bogus" if verb in TAKERS else "--json"
    message = found["error"]["message"]
    assert message.startswith(f"{verb.command} has no option {option!r}")
    assert (status, err) == (2, f"error: {message}\n")
    assert found == {"error": {"kind": "UsageError", "message": message, "where": NOWHERE, "exit_code": 2}}


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (
            UsageError("--frame must be a whole number"),
            {"kind": "UsageError", "message": "--frame must be a whole number", "where": NOWHERE, "exit_code": 2},
        ),
        (
            PluginDefinitionError("acme/norms.py:31: stage= must be a literal"),
            {
                "kind": "PluginDefinitionError",
                "message": "acme/norms.py:31: stage= must be a literal",
                "where": {"file": "acme/norms.py", "line": 31, "column": None, "step": None},
                "exit_code": 1,
            },
        ),
        (
            SettingsError(".brainsmith/config.yaml:2:3: cache_ttl must be a number"),
            {
                "kind": "SettingsError",
                "message": ".brainsmith/config.yaml:2:3: cache_ttl must be a number",
                "where": {"file": ".brainsmith/config.yaml", "line": 2, "column": 3, "step": None},
                "exit_code": 1,
            },
        ),
        (
            BlueprintError([Problem("b.yaml", 7, 9, "no kernel"), Problem("b.yaml", 0, 0, "no step")]),
            {
                "kind": "BlueprintError",
                "message": "b.yaml:7:9: no kernel\nb.yaml: no step",
                "where": {"file": "b.yaml", "line": 7, "column": 9, "step": None},
                "exit_code": 1,
                "problems": [
                    {"file": "b.yaml", "line": 7, "column": 9, "step": None, "message": "no kernel"},
                    {"file": "b.yaml", "line": None, "column": None, "step": None, "message": "no step"},
                ],
            },
        ),
        (
            VerificationError("step 'fold' changed it", "fold"),
            {
                "kind": "VerificationError",
                "message": "step 'fold' changed it",
                "where": {**NOWHERE, "step": "fold"},
                "exit_code": 1,
            },
        ),
        (
            KeyboardInterrupt(),
            {"kind": "KeyboardInterrupt", "message": "interrupted", "where": NOWHERE, "exit_code": 130},
        ),
    ],
)  # fmt: skip
def test_an_error_says_its_class_message_place_and_exit_code(error, fields):
    assert error_fields(error) == fields


def test_what_there_was_until_an_error_is_kept():
    error = NotProvenError("the build is not proven")
    assert document({"output": "out", "error": None}, error) == {
        "output": "out",
        "error": error_fields(error),
    }
    assert document([1], error) == document(None, error) == {"error": error_fields(error)}
    assert document([1], None) == [1]


def test_all_values_have_a_form_in_json():
    values = {
        "a": (np.float32(0.5), np.int64(3), np.bool_(True)),
        4: float("nan"),
        "c": ROOT,
        "d": {float("inf")},
    }
    assert plain(values) == {"a": [0.5, 3, True], "4": "nan", "c": str(ROOT), "d": ["inf"]}


def test_a_bug_is_a_document_and_keeps_its_traceback(monkeypatch, capsys):
    def broken(options, terminal):
        print("a plugin's own words")
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(stats, "run", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main(["stats", "--json"])
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"] == {
        "kind": "ZeroDivisionError", "message": "a bug", "where": NOWHERE, "exit_code": 1
    }  # fmt: skip
    assert shown.err == "a plugin's own words\n"


@pytest.mark.slow
def test_programs_and_libraries_do_not_write_into_it(project):
    (project / "plugins" / "loud.py").write_text(
        "import os\n"
        "from brainsmith.plugin.core import step\n"
        "@step\n"
        "def loud(model, cfg):\n"
        "    print('printed')\n"
        "    os.system('echo by a program')\n"
        "    os.write(1, b'by a library\\n')\n"
        "    return model\n"
    )
    (project / "loud.yaml").write_text("hw_compiler:\n  steps: [loud]\n")
    done = brainsmith(
        "build", MODEL, "--blueprint", "loud.yaml", "--output", "out", "--no-verify", "--no-report", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"][0]["name"] == "loud"
    for text in ("printed\n", "by a program\n", "by a library\n"):
        assert text in done.stderr


def test_of_a_build(job, elsewhere, capsys):  # noqa: F811
    status, found, err = given([*job, "--no-verify", "--no-report", "--strict", "--json"], capsys)
    assert status == 3
    out = str(elsewhere / "out")
    assert (found["output"], found["model"], found["report"]) == (
        out,
        f"{out}/model.onnx",
        f"{out}/report.json",
    )
    assert (found["page"], found["package"], found["proven"]) == (None, None, False)
    assert [(step["name"], step["reused"]) for step in found["steps"]] == [
        ("cleanup", False),
        ("qonnx_to_finn", False),
    ]
    off = "nothing was verified: verification is off (--no-verify, verify=False)"
    assert found["shortfalls"] == [{"kind": "golden", "text": off}]
    assert (found["error"]["kind"], found["error"]["exit_code"]) == ("NotProvenError", 3)
    assert err.splitlines()[0].startswith("[1/2] cleanup ")
    assert found["error"]["message"] in err
    written = json.loads((elsewhere / "out" / "report.json").read_text())
    for name in ("steps", "estimate", "rate", "rtl", "synthesis", "device", "accuracy", "warnings"):
        assert found[name] == written[name]


@pytest.mark.slow
def test_of_a_step_that_fails(project, capsys):
    (project / "plugins" / "boom.py").write_text(
        "from brainsmith.plugin.core import step\n@step\ndef boom(model, cfg):\n    return 1 / 0\n"
    )
    (project / "boom.yaml").write_text("hw_compiler:\n  steps: [cleanup, boom]\n")
    words = [
        "build",
        MODEL,
        "--blueprint",
        "boom.yaml",
        "--output",
        "out",
        "--no-verify",
        "--no-report",
        "--json",
    ]
    status, found, err = given(words, capsys)
    assert status == 1
    assert (found["error"]["kind"], found["error"]["where"]) == ("BuildError", {**NOWHERE, "step": "boom"})
    assert err.endswith(f"error: {found['error']['message']}\n")


def test_of_a_blueprint(elsewhere, capsys):
    (elsewhere / "good.yaml").write_text(
        "hw_compiler:\n"
        "  target: {clock: 200 MHz, fps: 1000}\n"
        "  transforms:\n"
        '    - {transform: "finn:SetFolding", args: {target_cycles_per_frame: 10}}\n'
        "  steps: [cleanup, transforms]\n"
    )
    status, found, err = given(["blueprint", "check", "good.yaml", "--json"], capsys)
    assert (status, err) == (0, "")
    assert found == {
        "file": "good.yaml",
        "target": {"part": None, "clock_ns": 5.0, "fps": 1000, "fit": None},
        "kernels": [],
        "steps": [
            {"name": "cleanup", "kind": "step", "plugin": "brainsmith:cleanup", "args": {}, "transforms": []},
            {
                "name": "transforms",
                "kind": "phase",
                "plugin": None,
                "args": {},
                "transforms": [
                    {"plugin": "finn:SetFolding", "args": {"target_cycles_per_frame": 10}, "group": None}
                ],
            },
        ],
        "verify": {"approximate": [], "changes_outputs": [], "unverified": []},
        "output": "estimates",
        "left_out": [],
        "strict": False,
        "plugins": ["step brainsmith:cleanup", "transform finn:SetFolding"],
        "skipped": [],
        "error": None,
    }


def test_of_a_run(x, capsys):  # noqa: F811
    status, found, err = given(["run", MODEL, "--target", "numpy", "--input", x, "--json"], capsys)
    assert (status, err) == (0, "")
    assert found.pop("prepare_seconds") > 0 and found.pop("execute_seconds") > 0
    assert found.pop("description")
    assert found == {
        "model": MODEL,
        "circuit": None,
        "target": "numpy:0",
        "samples": 6,
        "output": None,
        "outputs": [{"name": "logits", "shape": [6, 10], "dtype": "float32"}],
        "error": None,
    }


def test_of_a_comparison(x, capsys):  # noqa: F811
    words = ["compare", MODEL, "--targets", "reference,rtlsim,numpy", "--input", x, "--json"]
    status, found, err = given(words, capsys)
    assert (status, found["model"], found["compared_with"], found["agrees"], found["error"]) == (
        1, MODEL, "reference", False, None
    )  # fmt: skip
    first, circuit, last = found["targets"]
    assert [(one["device"], one["agrees"], one["worst"]) for one in (first, last)] == [
        ("reference", True, 0.0),
        ("numpy", True, 0.0),
    ]
    assert err.startswith(f"error: {circuit['reason']}\n")


def test_of_the_version(capsys):
    assert given(["--version", "--json"], capsys) == (
        0,
        {"version": __version__},
        f"brainsmith {__version__}\n",
    )


@pytest.mark.parametrize("words", [["plugins", "list", "--type", "step"], ["targets"], ["stats"]])
def test_of_the_others(words, capsys):
    status, found, err = given([*words, "--json"], capsys)
    assert (status, err) == (0, "")
    assert found


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_output_that_is_full_or_closed(elsewhere):
    words = [*COMMAND, "plugins", "list", "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "error: the output cannot be written: No space left on device\n",
    )
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, type(json.loads(done.stdout))) == (0, list)
