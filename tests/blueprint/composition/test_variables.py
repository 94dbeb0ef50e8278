"""Variables and what is set over them: by kind, by place, and what is wrong with them."""

import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.errors import BlueprintError

BASE = """\
variables:
  rate: 1000
  unit: ns
  data: "golden"
  order: [cleanup, fold]
  part: ~
hw_compiler:
  target:
    fps: ${rate}
    clock: 5 ${unit}
  args:
    fold: {target: "${rate}00", text: "$${rate}", note: "at ${rate}"}
  steps: ${order}
  verify: {inputs: "${data}/x.npy"}
"""


def errors(files, text, overrides=()):
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(files.write(text), overrides)
    return str(caught.value).replace(f"{files.folder}/", "").splitlines()


def test_a_value_that_is_a_variable_is_its_value_and_a_text_has_it_within(files):
    found = files.load(BASE)
    assert (found.goal.fps, found.goal.clock_ns) == (1000, 5.0)
    assert found.args["fold"].values == {"target": "100000", "text": "${rate}", "note": "at 1000"}
    assert [entry.name.name for entry in found.steps] == ["cleanup", "fold"]
    assert found.verify.inputs == f"{files.folder}/golden/x.npy"


def test_a_text_without_quotes_is_read_again(files):
    assert files.load("variables: {k: 12}\nhw_compiler:\n  target:\n    fps: ${k}000\n").goal.fps == 12000


@pytest.mark.parametrize("given", [["rate=2e3", "unit=MHz"], {"rate": 2000, "unit": "MHz"}])
def test_what_is_set_goes_before_the_files(files, given):
    found = load_blueprint(files.write(BASE), given)
    assert (found.goal.fps, found.goal.clock_ns) == (2000, 200.0)
    assert found.overrides == (
        ("rate=2e3", "unit=MHz") if isinstance(given, list) else ("rate=2000", "unit=MHz")
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["target.fps=5"], (5, "estimates", ["cleanup", "fold"])),
        (["steps=[fold]", "output=rtl"], (1000, "rtl", ["fold"])),
        ({"steps": ["fold"], "target.fps": 6}, (6, "estimates", ["fold"])),
        (["target.fps=~", "steps=~"], (None, "estimates", None)),
        (["target={fps: 8}"], (8, "estimates", ["cleanup", "fold"])),
    ],
)
def test_keys_are_set_by_their_path(files, given, expected):
    found = load_blueprint(files.write(BASE), given)
    steps = None if found.steps is None else [entry.name.name for entry in found.steps]
    assert (found.goal.fps, found.output or "estimates", steps) == expected


def test_a_file_that_is_set_lies_in_the_current_folder(files, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert load_blueprint(files.write(BASE), ["data=here"]).verify.inputs == f"{files.folder}/here/x.npy"
    found = load_blueprint(files.write(BASE), ["verify.inputs=y.npy"])
    assert found.verify.inputs == f"{elsewhere}/y.npy"


def test_no_file_at_all_takes_overrides():
    assert load_blueprint([], {"output": "rtl"}).output == "rtl"
    assert load_blueprint([]).output is None


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        (
            BASE,
            ["rate=fast"],
            [
                "--set rate=fast: target.fps must be a positive whole number, not 'fast' (as ${rate} at x.yaml:9:10)"
            ],
        ),
        (
            "variables: {rate: fast}\nhw_compiler:\n  target: {fps: '${rate}'}\n",
            [],
            [
                "x.yaml:1:19: target.fps must be a positive whole number, not 'fast' (as ${rate} at x.yaml:3:17)"
            ],
        ),
        (
            "variables: {a: '${b}', b: fast}\nhw_compiler:\n  output: ${a}\n",
            [],
            [
                "x.yaml:1:27: output must be one of estimates, rtl, simulated, synthesised, not 'fast'. "
                "(as ${b} at x.yaml:1:16, as ${a} at x.yaml:3:11)"
            ],
        ),
        (
            "variables: {a: '${b}', b: 'x${a}'}\nhw_compiler:\n  output: ${a}\n",
            [],
            ["x.yaml:1:27: a variable is made of itself: a -> b -> a"],
        ),
        (
            "variables: {rate: ~}\nhw_compiler:\n  target:\n    fps: ${rate}\n",
            [],
            [
                "x.yaml:4:10: variable 'rate' has no value: give it one with --set rate=..., or under variables"
            ],
        ),
        (
            "variables: {rate: 1}\nhw_compiler:\n  target:\n    fps: ${rat}\n    clock: ${}\n",
            [],
            [
                "x.yaml:4:10: there is no variable 'rat'. Did you mean 'rate'?",
                "x.yaml:5:12: there is no variable ''. Variables are rate.",
            ],
        ),
        (
            "variables: {a: [1]}\nhw_compiler:\n  output: x${a}\n",
            [],
            ["x.yaml:3:11: ${a} is a list, which cannot stand within a string"],
        ),
        (
            "variables: {a-b: 1}\nhw_compiler: {}\n",
            [],
            ["x.yaml:1:13: a variable must be named by letters, digits and _, not 'a-b'"],
        ),
        (
            "hw_compiler:\n  target: {fps: ${rate}}\n",
            [],
            [
                "x.yaml:2:18: not valid YAML: expected ',' or '}', but got '{'; "
                'put a variable in quotes inside { } and [ ]: "${name}"'
            ],
        ),
        (
            "variables: {rate: 1}\nhw_compiler: {}\n",
            ["rte=1", "outputt=rtl", "output=[a", "output"],
            [
                "--set outputt=rtl: there is no variable or key 'outputt'. Did you mean 'output'?",
                "--set output=[a: not valid YAML: expected ',' or ']', but got '<stream end>'",
                "--set rte=1: there is no variable or key 'rte'. Did you mean 'rate'?",
                "--set output: it has no value: write output=VALUE, or output=null to take it away",
            ],
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_is_written(files, text, given, expected):
    assert sorted(errors(files, text, given)) == sorted(expected)


def test_variables_that_multiply_are_refused(files):
    doubled = "\n".join(f"  v{at}: ['${{v{at - 1}}}', '${{v{at - 1}}}']" for at in range(1, 40))
    found = errors(files, f"variables:\n  v0: x\n{doubled}\nhw_compiler:\n  steps: ${{v39}}\n")
    assert found[0].endswith("more than 20000 values, perhaps through a variable")


def test_python_values_that_are_no_yaml_are_refused(files):
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(files.write(BASE), {"rate": object})
    assert (
        "--set rate=<class 'object'>: an override is a string, a number, a list or a mapping, not type"
        in str(caught.value)
    )
