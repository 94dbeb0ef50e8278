import os

import pytest

from brainsmith.blueprint.schema import Blueprint, PluginName, StepEntry, Verify

SAMPLES = "the samples that it belongs to"
TOLERANCE = "verify.tolerance must be a number from 0 up, or a mapping from step names to numbers"


def test_an_empty_blueprint_is_the_default_build(files):
    blueprint = files.load("hw_compiler: {}")
    assert blueprint == Blueprint(blueprint.file)
    assert blueprint.output is None


def test_phases_are_found_by_their_word(files):
    blueprint = files.body("transforms: [A]\ntransforms_phased: {pre_hw: [B], post_hw: [C]}")
    for phase, name in {"transforms": "A", "pre_hw": "B", "post_hw": "C"}.items():
        assert blueprint.phase(phase) == (StepEntry("transform", PluginName(name)),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", ["1:1: a blueprint must be a mapping with the key hw_compiler, not 'hello'"]),
        ("- a\n", ["1:1: a blueprint must be a mapping with the key hw_compiler, not a list"]),
        ("3", ["1:1: a blueprint must be a mapping with the key hw_compiler, not 3"]),
        ("~", ["1:1: a blueprint must be a mapping with the key hw_compiler, not null"]),
        ("{}", ["1:1: the key hw_compiler is missing: everything in a blueprint belongs under it"]),
        (
            "kernels: []\n",
            [
                "1:1: the key hw_compiler is missing: everything in a blueprint belongs under it",
                "1:1: unknown key 'kernels' beside hw_compiler. It belongs under hw_compiler.",
            ],
        ),
        (
            "hw_compilers: {}\n",
            [
                "1:1: the key hw_compiler is missing: everything in a blueprint belongs under it",
                "1:1: unknown key 'hw_compilers' beside hw_compiler. Did you mean 'hw_compiler'?",
            ],
        ),
        ("hw_compiler:\n", ["1:13: hw_compiler must be a mapping, not empty"]),
        ("hw_compiler: ~\n", ["1:14: hw_compiler must be a mapping, not null"]),
        ("hw_compiler: []\n", ["1:14: hw_compiler must be a mapping, not a list"]),
        ("hw_compiler: {}\nname: x\n", ["2:1: unknown key 'name' beside hw_compiler."]),
        (
            "hw_compiler: {}\nhw_compiler: {}\n",
            ["2:1: key 'hw_compiler' in the file is given twice: first at x.yaml:1:1"],
        ),
        ("hw_compiler: {1: a}\n", ["1:15: a key in hw_compiler must be a string, not 1"]),
        ("hw_compiler: {[a]: b}\n", ["1:15: a key in hw_compiler must be a string, not a list"]),
        (
            "hw_compiler: {<<: {kernels: []}}\n",
            ["1:15: hw_compiler has a merge key (<<), unknown here: write the keys out"],
        ),
        (
            "hw_compiler: {transformz: []}\n",
            ["1:15: unknown key 'transformz' in hw_compiler. Did you mean 'transforms'?"],
        ),
        (
            "hw_compiler: {colour: red}\n",
            [
                "1:15: unknown key 'colour' in hw_compiler. "
                "It takes requires, target, inputs, kernels, transforms, transforms_phased, steps, change_steps, args, "
                "verify, output, strict."
            ],
        ),
    ],
)
def test_pitfall_16_what_is_wrong_at_the_root(files, text, expected):
    assert sorted(files.errors(text)) == [f"x.yaml:{line}" for line in expected]


def test_pitfall_20_all_errors_come_at_once_in_the_order_of_the_file(files):
    text = """\
output: bitstream
steps: [~pre_hw]
kernels:
- {kernl: a}
- b c
target: {clock: soon, fps: 0}
transforms: [{transform: A, args: {x: 1, x: 2}}]
verfy: {}
"""
    assert files.body_errors(text) == [
        "x.yaml:2:11: output must be one of estimates, rtl, simulated, synthesised, not 'bitstream'.",
        "x.yaml:3:11: 'pre_hw' places a list, so it cannot be optional: write it without ~",
        "x.yaml:5:6: unknown key 'kernl' in kernels[0]. Did you mean 'kernel'?",
        "x.yaml:6:5: kernels[1] must be a name "
        "(Streamline, finn:Streamline, or ~Streamline if it is optional), not 'b c'",
        "x.yaml:7:19: target.clock must be '5 ns', '200 MHz' or a number of ns, not 'soon'",
        "x.yaml:7:30: target.fps must be a positive whole number, not 0",
        "x.yaml:8:3: steps does not contain transforms, which would never run: "
        "add the word transforms to steps",
        "x.yaml:8:44: key 'x' in transforms[0].args is given twice: first at x.yaml:8:38",
        "x.yaml:9:3: unknown key 'verfy' in hw_compiler. Did you mean 'verify'?",
    ]


def test_steps_must_place_every_list(files):
    text = "transforms_phased: {pre_hw: [A], post_hw: [B]}\nsteps: [cleanup, pre_hw]\ntransforms: []"
    assert files.body_errors(text) == [
        "x.yaml:2:36: steps does not contain transforms_phased.post_hw, which would never run: "
        "add the word post_hw to steps"
    ]


@pytest.mark.parametrize("word", ["estimates", "rtl", "simulated", "synthesised"])
def test_the_four_outputs(files, word):
    assert files.body(f"output: {word}").output == word


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("estimate", "'estimate'. Did you mean 'estimates'?"),
        ("simulate", "'simulate'. Did you mean 'simulated'?"),
        ("synthesized", "'synthesized'. Did you mean 'synthesised'?"),
        ("pdf", "'pdf'."),
        ("~", "null"),
        ("[rtl]", "a list"),
    ],
)
def test_other_outputs_are_unknown(files, written, shown):
    assert files.body_errors(f"output: {written}") == [
        f"x.yaml:2:11: output must be one of estimates, rtl, simulated, synthesised, not {shown}"
    ]


def test_golden_data_lie_beside_the_blueprint(files):
    text = "verify: {inputs: x.npy, labels: ../y.npy, expected: /data/z.npy, tolerance: {fold: 1e-6, '*': 0}}"
    folder = str(files.folder)
    assert files.body(text).verify == Verify(
        os.path.join(folder, "x.npy"),
        os.path.join(folder, "../y.npy"),
        "/data/z.npy",
        {"fold": 1e-6, "*": 0.0},
    )
    assert files.body("verify: {tolerance: 1.0e-3}").verify.tolerance == {"*": 1e-3}
    assert files.body("verify: ~").verify == Verify()


def test_a_home_folder_is_expanded(files):
    inputs = files.body("verify: {inputs: ~/x.npy}").verify.inputs
    assert inputs == os.path.expanduser("~/x.npy")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("verify: {labels: y.npy}", f"2:12: verify.labels needs verify.inputs, {SAMPLES}"),
        ("verify: {inputs: 3}", "2:20: verify.inputs must be the path of a .npy file, not 3"),
        ("verify: {inputs: ''}", "2:20: verify.inputs must be the path of a .npy file, not ''"),
        ("verify: {input: x.npy}", "2:12: unknown key 'input' in verify. Did you mean 'inputs'?"),
        ("verify: x.npy", "2:11: verify must be a mapping, not 'x.npy'"),
        ("verify: {tolerance: small}", f"2:23: {TOLERANCE}, not 'small'"),
        ("verify: {tolerance: {fold: -1}}", f"2:30: {TOLERANCE}, not -1"),
        ("verify: {tolerance: {fold: .nan}}", f"2:30: {TOLERANCE}, not nan"),
    ],
)
def test_what_is_wrong_with_golden_data(files, text, expected):
    assert files.body_errors(text) == [f"x.yaml:{expected}"]


def test_an_alias_repeats_what_its_anchor_says(files):
    text = "transforms: &both\n- A\n- B\ntransforms_phased: {pre_hw: *both}"
    blueprint = files.body(text)
    assert blueprint.pre_hw == blueprint.transforms
    assert blueprint.pre_hw[1].position.line == 4


def test_a_problem_behind_an_alias_lies_at_its_anchor(files):
    text = "transforms: &both\n- a b\ntransforms_phased: {pre_hw: *both}"
    errors = files.body_errors(text)
    assert [error.partition(" must be")[0] for error in errors] == [
        "x.yaml:3:5: transforms[0]",
        "x.yaml:3:5: transforms_phased.pre_hw[0]",
    ]
