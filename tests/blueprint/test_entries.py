import pytest

from brainsmith.blueprint.schema import Arguments, KernelEntry, PluginName, StepEntry


def names(*texts):
    return tuple(PluginName(text) for text in texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernels: [matmul]", KernelEntry(PluginName("matmul"))),
        ("kernels:\n- matmul", KernelEntry(PluginName("matmul"))),
        ("kernels: ['~matmul']", KernelEntry(PluginName("matmul", optional=True))),
        ("kernels: [~matmul]", KernelEntry(PluginName("matmul", optional=True))),
        ("kernels: [~ matmul]", KernelEntry(PluginName("matmul", optional=True))),
        ("kernels: ['finn:MVAU']", KernelEntry(PluginName("MVAU", "finn"))),
        ("kernels: [finn:MVAU]", KernelEntry(PluginName("MVAU", "finn"))),
        ("kernels:\n- ~acme-plugins:MVAU", KernelEntry(PluginName("MVAU", "acme-plugins", optional=True))),
        ("kernels: [{kernel: A, backends: [rtl, hls]}]", KernelEntry(PluginName("A"), names("rtl", "hls"))),
        ("kernels: [{kernel: A, backends: rtl}]", KernelEntry(PluginName("A"), names("rtl"))),
        ("kernels: [{kernel: A, backends: ~}]", KernelEntry(PluginName("A"))),
        ("kernels: [{kernel: A}]", KernelEntry(PluginName("A"))),
        ("kernels:\n- kernel: A\n  backends:\n  - hls", KernelEntry(PluginName("A"), names("hls"))),
        ("kernels:\n- Softmax: Softmax_hls", KernelEntry(PluginName("Softmax"), names("Softmax_hls"))),
        ("kernels:\n- Softmax: [hls, rtl]", KernelEntry(PluginName("Softmax"), names("hls", "rtl"))),
        ("kernels:\n- Softmax: ~", KernelEntry(PluginName("Softmax"))),
        ("kernels:\n- Softmax:", KernelEntry(PluginName("Softmax"))),
        ("kernels:\n- finn:MVAU: rtl", KernelEntry(PluginName("MVAU", "finn"), names("rtl"))),
        ("kernels:\n  Softmax: Softmax_hls", KernelEntry(PluginName("Softmax"), names("Softmax_hls"))),
        ("kernels: {Softmax: [hls, rtl]}", KernelEntry(PluginName("Softmax"), names("hls", "rtl"))),
        ("kernels: {Softmax: ~}", KernelEntry(PluginName("Softmax"))),
    ],
)
def test_pitfall_18_every_form_of_a_kernel(files, text, expected):
    assert files.body(text).kernels == (expected,)


@pytest.mark.parametrize("text", ["kernels: ~", "kernels:", "kernels: []", "kernels: {}", "steps: ~"])
def test_no_kernels(files, text):
    assert files.body(text).kernels == ()


def test_positions_of_a_short_form_are_those_of_the_names(files):
    (entry,) = files.body("kernels:\n- Softmax: [hls, Softmax_rtl]").kernels
    assert str(entry.position).endswith("x.yaml:3:5")
    places = [(name.position.line, name.position.column) for name in entry.backends]
    assert places == [(3, 15), (3, 20)]


def test_pitfall_18_a_bare_tilde_stands_for_nothing_and_is_noted(files):
    blueprint = files.body("transforms:\n- ~\n- A\n- '~'\n- null\nkernels: [~]\nsteps: [transforms, ~]")
    assert [entry.name.name for entry in blueprint.transforms] == ["A"]
    assert blueprint.kernels == ()
    assert len(blueprint.steps) == 1
    places = sorted((place.line, place.column) for place in blueprint.blanks)
    assert places == [(3, 5), (5, 5), (6, 5), (7, 13), (8, 23)]


NAME = "a name (Streamline, finn:Streamline, or ~Streamline if it is optional)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernels: softmax", "2:12: kernels must be a list, not 'softmax'"),
        ("kernels: [12]", f"2:13: kernels[0] must be {NAME}, not 12"),
        ("kernels: [on]", f"2:13: kernels[0] must be {NAME}, not True"),
        ("kernels: ['']", f"2:13: kernels[0] must be {NAME}, not ''"),
        ("kernels: ['a b']", f"2:13: kernels[0] must be {NAME}, not 'a b'"),
        ("kernels: ['a:b:c']", f"2:13: kernels[0] must be {NAME}, not 'a:b:c'"),
        ("kernels: ['finn:']", f"2:13: kernels[0] must be {NAME}, not 'finn:'"),
        ("kernels: ['~~a']", f"2:13: kernels[0] must be {NAME}, not '~~a'"),
        ("kernels: [!x a]", f"2:13: kernels[0] must be {NAME}, not !x a, whose YAML tag has no meaning here"),
        ("kernels:\n-\n- A", "3:4: kernels[0] is empty: write a name, or ~ for an entry that does nothing"),
        (
            "kernels: [[A, ~]]",
            "2:13: kernels[0] is a list: write one name, or {choice: [...]} for several that are explored",
        ),
        ("kernels: [{kernl: A}]", "2:14: unknown key 'kernl' in kernels[0]. Did you mean 'kernel'?"),
        (
            "kernels: [{kernel: A, backend: hls}]",
            "2:25: unknown key 'backend' in kernels[0]. Did you mean 'backends'?",
        ),
        (
            "kernels: [{kernel: A, colour: red}]",
            "2:25: unknown key 'colour' in kernels[0]. It takes kernel, backends.",
        ),
        (
            "kernels: [{backends: [hls]}]",
            "2:13: kernels[0] must name a kernel: {kernel: Name, backends: [hls]}",
        ),
        ("kernels: [{}]", "2:13: kernels[0] must name a kernel: {kernel: Name, backends: [hls]}"),
        (
            "kernels: [{kernel: A, backends: []}]",
            "2:35: the backends of kernels[0] are an empty list: leave it out to take any backend",
        ),
        (
            "kernels: [{kernel: A, backends: [~]}]",
            f"2:36: each of the backends of kernels[0] must be {NAME}, not null",
        ),
        ("kernels: {A: {hls: 1}}", f"2:16: each of the backends of kernels.A must be {NAME}, not a mapping"),
        ("kernels: {A: [hls, rtl, hls]}", "2:27: backend 'hls' is listed twice"),
        ("kernels: {A: hls, A: rtl}", "2:21: key 'A' in kernels is given twice: first at x.yaml:2:13"),
        (
            "transforms:\n- finn: Streamline",
            "3:5: unknown key 'finn' in transforms[0]: for a name with its framework, "
            "write finn:Streamline without the space",
        ),
        (
            "transforms: [{Foo: {a: 1}}]",
            "2:17: unknown key 'Foo' in transforms[0]: for arguments, write {transform: Foo, args: {...}}",
        ),
        ("transforms: [{args: {a: 1}}]", "2:16: transforms[0] names no transform"),
        (
            "transforms: [{transform: A, args: [1]}]",
            "2:37: transforms[0].args must be a mapping from names to values, not a list",
        ),
        (
            "transforms: [{transform: A, arg: {}}]",
            "2:31: unknown key 'arg' in transforms[0]. Did you mean 'args'?",
        ),
        ("transforms: {pre_hw: [A]}", "2:15: transforms must be a list, not a mapping"),
        (
            "transforms_phased: {prehw: [A]}",
            "2:23: unknown key 'prehw' in transforms_phased. Did you mean 'pre_hw'?",
        ),
        ("transforms_phased: [A]", "2:22: transforms_phased must be a mapping, not a list"),
        ("transforms_phased: {pre_hw: A}", "2:31: transforms_phased.pre_hw must be a list, not 'A'"),
        ("steps: []", "2:10: steps is an empty list: leave the key out for the default order"),
        (
            "steps: [{step: a, transform: B}]",
            "2:11: steps[0] names both a step and a transform: make two entries",
        ),
        ("steps: [{args: {}}]", "2:11: steps[0] names no step or transform"),
        (
            "steps: [{fold: {a: 1}}]",
            "2:12: unknown key 'fold' in steps[0]: for arguments, write {step: fold, args: {...}}",
        ),
        (
            "steps: [~pre_hw]",
            "2:11: 'pre_hw' places a list, so it cannot be optional: write it without ~",
        ),
    ],
)
def test_what_is_wrong_in_a_list(files, text, expected):
    assert files.body_errors(text) == [f"x.yaml:{expected}"]


def test_arguments_are_plain_values(files):
    text = (
        "transforms: [{transform: A, args: {i: 3, f: 1e-6, g: 0.5, b: true, n: ~, s: x, t: '3',"
        " l: [1, a], m: {k: 2}, d: 2020-01-01, r: 1:30, e: '1e3'}}]"
    )
    (entry,) = files.body(text).transforms
    assert entry == StepEntry(
        "transform",
        PluginName("A"),
        Arguments(
            {
                "i": 3,
                "f": 1e-6,
                "g": 0.5,
                "b": True,
                "n": None,
                "s": "x",
                "t": "3",
                "l": [1, "a"],
                "m": {"k": 2},
                "d": "2020-01-01",
                "r": "1:30",
                "e": "1e3",
            }
        ),
    )
    assert (entry.args.positions["f"].line, entry.args.positions["f"].column) == (2, 44)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("!!python/name:os.system x", "!!python/name:os.system x, whose YAML tag has no meaning here"),
        ("!!int x", "'x' is not a YAML int"),
        ("!!float x", "'x' is not a YAML float"),
        ("!!bool x", "'x' is not a YAML bool"),
    ],
)
def test_tags_construct_nothing(files, value, expected):
    (error,) = files.body_errors(f"transforms:\n- transform: A\n  args: {{a: {value}}}")
    assert error == f"x.yaml:4:15: transforms[0].args.a must be a plain value, not {expected}"


def test_steps_name_steps_transforms_and_phases(files):
    text = "steps: [cleanup, transforms, {transform: B, args: {n: 1}}, {step: pre_hw}, ~finn:s]"
    assert files.body(text).steps == (
        StepEntry("step", PluginName("cleanup")),
        StepEntry("phase", PluginName("transforms")),
        StepEntry("transform", PluginName("B"), Arguments({"n": 1})),
        StepEntry("step", PluginName("pre_hw")),
        StepEntry("step", PluginName("s", "finn", optional=True)),
    )


def test_without_steps_the_order_is_the_default(files):
    assert files.body("steps: ~").steps is None
    assert files.body("kernels: []").steps is None
