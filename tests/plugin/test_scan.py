"""The law: scanning a source gives the same records as importing it."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import importlib.util
import itertools
import sys
import textwrap

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import brainsmith
from brainsmith.errors import BrainsmithError
from brainsmith.plugin import core
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.scan import may_hold_plugins, scan
from brainsmith.plugin.source_files import SourceFile

# The bases that FINN and QONNX provide, under the names by which the decorators know them.
BASES = """
class Transformation: pass
class HWCustomOp: pass
class HLSBackend: pass
class RTLBackend: pass
class Op: pass
Transformation.__module__ = "qonnx.transformation.base"
HWCustomOp.__module__ = HLSBackend.__module__ = RTLBackend.__module__ = "finn.bases"
Op.__module__ = "brainsmith.autodiff.op"
"""


@pytest.fixture
def registry(monkeypatch):
    fresh = Registry()
    monkeypatch.setattr(core, "REGISTRY", fresh)
    return fresh


def read(path, module="plugin_file"):
    return scan(PythonSource(SourceFile(str(path), module, False), path.read_bytes()), "project")


def imported(path, registry, module="plugin_file"):
    """Import a file as a fresh module; return the records that its decorators made."""
    registry.reset()
    spec = importlib.util.spec_from_file_location(module, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    try:
        spec.loader.exec_module(loaded)
    finally:
        del sys.modules[module]
    return sorted(info.to_plain() for info in registry.records())


def as_ours(info, fast):
    """Return a record as it is of a plugin of this package, which need not state everything.

    Whether `requires=()` is stated, its record does not say: then nothing is required, else what all of its type do.
    """
    ours = {"version": brainsmith.__version__, "author": "BrainSmith"}
    ours["requires"] = REQUIRED.get(info.type, ()) if fast.requires else ()
    domain = {"kernel": {"domain": ""}, "backend": {"domain": ""}}.get(info.type, {})  # it lies in no package
    if (info.kernel or "").startswith("finn:") and info.type == "backend":
        domain = {"domain": f"finn.custom_op.fpgadataflow.{info.backend_type}"}
    stated = {name: info[name] or ours[name] for name in ours}
    return info.replace(framework="brainsmith", extra={**domain, **info.extra}, **stated)


REQUIRED = {
    "transform": ("qonnx",),
    "kernel": ("finn-plus",),
    "backend": ("finn-plus",),
    "step": ("finn-plus",),
}


def scanned(path):
    """Return the records of both readings, which must agree: the fast one is for our own files alone."""
    found = read(path)
    assert [str(problem) for problem in found.problems] == []
    source = PythonSource(SourceFile(str(path), "plugin_file", False), path.read_bytes())
    fast = scan(source, "brainsmith").records
    assert len(fast) == len(found.records)
    assert list(fast) == [as_ours(*pair) for pair in zip(found.records, fast, strict=True)]
    return sorted(info.to_plain() for info in found.records)


TYPES = ("transform", "kernel", "backend", "step", "op", "target", "bundle")
NAMES = st.sampled_from(["Norm", "Größe", "类", "_Hidden", "norm_2", "X", "Stage", "ﬁne"])
TEXTS = st.sampled_from(
    [
        '"plain"',
        "'it''s'",
        '"a \\"quoted\\" word"',
        'r"\\d"',
        '"one " "two"',
        '"ünï"',
        '"""several\nlines"""',
        '"""\n@transform(name="Fake", stage="x")\nclass Fake(Transformation):\n    pass\n"""',
        "'''class Fake: #'''",
        '"# no comment"',
        '"\\x41"',
    ]
)
ALIASES = st.sampled_from(["t", "deco", "make_it", "übersetzt"])
IMPORTS = st.sampled_from(
    [
        "from",
        "from as",
        "from package",
        "from the top",
        "top",
        "star of the top",
        "from the door",
        "module",
        "module as",
        "package",
        "lines",
        "assigned",
        "star",
        "in try",
    ]
)


def import_of(style, plugin_type, alias):
    """Return an import of a decorator, and what stands behind the @."""
    return {
        "from": (f"from brainsmith.plugin.core import {plugin_type}", plugin_type),
        "from as": (f"from brainsmith.plugin.core import {plugin_type} as {alias}", alias),
        "from package": (
            f"from brainsmith.plugin import get_registry, {plugin_type}  # it's here",
            plugin_type,
        ),
        "from the top": (f"from brainsmith import {plugin_type}, __version__", plugin_type),
        "top": ("import brainsmith", f"brainsmith.{plugin_type}"),
        "star of the top": ("from brainsmith import *", plugin_type),
        "from the door": (f"from brainsmith.plugins import {plugin_type} as {alias}", alias),
        "module": ("import brainsmith.plugin.core", f"brainsmith.plugin.core.{plugin_type}"),
        "module as": (f"import sys, brainsmith.plugin.core as {alias}", f"{alias}.{plugin_type}"),
        "package": ("from brainsmith.plugin import core", f"core.{plugin_type}"),
        "lines": (
            f"from brainsmith.plugin.core import (  # all\n    get_registry,\n    {plugin_type} as {alias},  # this\n)",
            alias,
        ),
        "assigned": (f"from brainsmith.plugin import core\n{alias} = core.{plugin_type}", alias),
        "star": ("from brainsmith.plugin.core import *", plugin_type),
        "in try": (
            f"try:\n    from brainsmith.plugin.core import {plugin_type}\nexcept ImportError:\n    raise",
            plugin_type,
        ),
    }[style]


@st.composite
def arguments(draw, plugin_type):
    values = {}
    if plugin_type == "transform":
        values[draw(st.sampled_from(["stage", "kernel"]))] = '"topology_opt"'
    if plugin_type == "backend":
        values |= {"kernel": '"finn:MatMul"', "backend_type": draw(st.sampled_from(['"hls"', "'rtl'"]))}
    for key in draw(st.lists(st.sampled_from(["description", "author", "version"]), unique=True)):
        values[key] = draw(TEXTS)
    if draw(st.booleans()):
        values["requires"] = draw(st.sampled_from(['("qonnx",)', '["finn-plus>=1.6", "numpy"]', "()"]))
    if draw(st.booleans()):
        values["priority"] = draw(st.sampled_from(["10", "-5", "+75", "0x10", "1_0"]))
    pairs = [f"{key}={value}" for key, value in draw(st.permutations(sorted(values.items())))]
    if not pairs:
        return draw(st.sampled_from(["", "()", "(  )", "(\n)"]))
    joint = draw(st.sampled_from([", ", ",\n", ",  # why, (and\n    ", ", \\\n"]))
    return (
        f"({joint.join(pairs)}{draw(st.sampled_from(['', ',', ',  # end']))}\n)"
        if "#" in joint
        else f"({joint.join(pairs)})"
    )


@st.composite
def definitions(draw, name):
    """Draw the import, the decorators and the definition of one plugin."""
    plugin_type = draw(st.sampled_from(TYPES))
    statement, decorator = import_of(draw(IMPORTS), plugin_type, draw(ALIASES))
    lines = [statement]
    others = ["@keep", "@keep  # as it is", "@(lambda x: x)", "@other(\n  1,\n)"]
    decorators = [
        f"@{decorator}{draw(arguments(plugin_type))}",
        *draw(st.lists(st.sampled_from(others), max_size=2)),
    ]
    gaps = draw(st.sampled_from(["", "# between\n", "\n"]))
    lines.append(("\n" + gaps).join(draw(st.permutations(decorators))))
    if plugin_type == "step":
        head = draw(
            st.sampled_from(
                [
                    "def {}(model, cfg):",
                    "def {}(model,\n cfg, x=(1, 2)):",
                    "def {}(*all): ",
                ]
            )
        )
    else:
        bases = {"transform": "Transformation", "kernel": "HWCustomOp", "backend": "HLSBackend", "op": "Op"}
        base = bases.get(plugin_type, "object")
        head = draw(
            st.sampled_from(
                ["class {}(" + base + "):", "class {}(" + base + ",\n  ):", "class  {}( " + base + ") :"]
            )
        )
    body = draw(
        st.sampled_from(
            [
                "pass",
                '"""Doc.\n@transform(stage="x")\nclass Fake(Transformation):\n    """',
                "'''\n@step\ndef fake(m, c): '''",
            ]
        )
    )
    lines.append(head.format(name) + "\n    " + body)
    return "\n".join(lines)


NOISE = st.sampled_from(
    [
        "",
        "\n\n",
        "x = 1",
        "# @step\n# def fake(model, cfg): ...",
        '"""\n@step\ndef fake(model, cfg):\n    pass\n"""',
        "x = '''\n@step\ndef fake(model, cfg):\n    pass\n'''",
        'x = """it\'s""" + \\\n"x"',
        "x = 'a \\\n@step\\\ndef fake(model, cfg): pass'",
        "def outer(step=lambda x: x):\n    @step\n    def inner(model, cfg): pass\n    return inner",
        "@keep\ndef plain(model, cfg):\n    return model",
        "@keep\nclass Plain:\n    @property\n    def p(self): return 1\n    @staticmethod\n    def s(): pass",
        "\x0c",
        "x = (1\n@ matrix)",
        'x = [\n\'@step\', """@step"""]',
        "if True:\n    y = 2\nelse:\n    y = 3",
        "for i in ():\n    class Inner: pass",
        'x = 1  # it\'s """ odd',
        "import os as transform_os",
        "core_ = 'core'",
    ]
)


REBOUND = f"""{BASES}
from brainsmith.plugin.core import transform as t

@t(stage="topology_opt")
class First(Transformation):
    pass

import brainsmith.plugin.core as t

@t.transform(stage="topology_opt")
class Second(Transformation):
    pass
"""


@st.composite
def files(draw):
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    parts = [
        BASES,
        "class Matrix:\n    def __rmatmul__(self, other): return 1\nmatrix = Matrix()",
        "def keep(x): return x",
        "def other(n): return keep",
    ]
    for name in names:
        parts.append(draw(NOISE))
        parts.append(draw(definitions(name)))
    parts.append(draw(NOISE))
    head = draw(
        st.sampled_from(
            ["", '"""A module.\n@step\ndef fake(model, cfg): pass\n"""\n', "# -*- coding: utf-8 -*-\n", "\n"]
        )
    )
    text = head + "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n# end"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


counter = itertools.count()


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(REBOUND.encode())
@given(files())
def test_scanning_gives_the_records_that_importing_gives(tmp_path, registry, data):
    path = tmp_path / f"file_{next(counter)}.py"
    path.write_bytes(data)
    assert scanned(path) == imported(path, registry)


def check_law(tmp_path, registry, text):
    path = tmp_path / "file.py"
    path.write_text(BASES + textwrap.dedent(text))
    assert scanned(path) == imported(path, registry)
    return [info.name for info in read(path).records]


def test_the_last_import_of_a_name_before_the_decorator_counts(tmp_path, registry):
    text = """
    from functools import wraps as step
    from brainsmith.plugin.core import step
    @step
    def a(model, cfg): pass
    """
    assert check_law(tmp_path, registry, text) == ["a"]


def test_a_name_that_is_bound_anew_is_no_decorator(tmp_path, registry):
    text = """
    from brainsmith.plugin.core import step
    def step(function): return function
    @step
    def a(model, cfg): pass
    """
    assert check_law(tmp_path, registry, text) == []


def test_a_name_that_is_defined_twice_is_one_plugin(tmp_path, registry):
    text = """
    from brainsmith.plugin.core import step
    @step
    def a(model, cfg): pass
    @step(description="second")
    def a(model, cfg): pass
    """
    assert check_law(tmp_path, registry, text) == ["a"]


def test_two_decorators_on_one_object_make_two_plugins(tmp_path, registry):
    text = """
    from brainsmith.plugin.core import step
    @step(name="b")
    @step(name="c")
    def a(model, cfg): pass
    """
    assert sorted(check_law(tmp_path, registry, text)) == ["b", "c"]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("from brainsmith.targets import Priority\nMINE = 1", 75),
        ("from brainsmith.plugin.info import Priority", 75),
        ("class Priority:\n    HIGH = 3", None),
        ("from brainsmith.targets import Priority\nclass Priority:\n    HIGH = 3", None),
    ],
)
def test_a_priority_may_be_given_by_its_name(tmp_path, registry, lines, found):
    text = f"from brainsmith.plugin.core import step\n{lines}\n@step(priority=Priority.HIGH)\ndef a(model, cfg): pass\n"
    path = tmp_path / "plugins.py"
    path.write_text(text)
    read = scan(PythonSource(SourceFile(str(path), "plugins", False), path.read_bytes()), "project")
    assert [info.priority for info in read.records] == ([found] if found else [])
    if not found:
        assert [problem.text for problem in read.problems] == [
            "priority= of @step must be a literal, because discovery does not run plugin code; found Priority.HIGH"
        ]


BAD = {
    "not a literal": (
        "STAGES = ['x']\n@transform(stage=STAGES[0])\nclass A(Transformation): pass",
        "{path}:12: stage= of @transform must be a literal, because discovery does not run plugin code; found STAGES[0]",
    ),
    "a literal on another line": (
        "@transform(\n  name='A',\n  stage=f'x',\n)\nclass A(Transformation): pass",
        "{path}:13: stage= of @transform must be a literal, because discovery does not run plugin code; found f'x'",
    ),
    "keywords from a dict": (
        "@transform(**OPTIONS)\nclass A(Transformation): pass",
        "{path}:11: @transform must be given its keywords as literals, because discovery does not run plugin code; found **OPTIONS",
    ),
    "a positional argument": (
        "@transform('A', stage='x')\nclass A(Transformation): pass",
        "{path}:11: @transform takes keywords only, such as @transform(name=\"X\"); found 'A'",
    ),
    "an unknown keyword": (
        "@transform(stag='x')\nclass A(Transformation): pass",
        "{path}:11: @transform has no keyword 'stag'. Did you mean 'stage'?\n  it takes name, version, description, author, license, min_brainsmith,"
        " max_brainsmith, requires, requires_plugins, tags, priority, override, stage, kernel, cache, inputs",
    ),
    "within an if": (
        "if True:\n    @transform(stage='x')\n    class A(Transformation): pass",
        "{path}:12: @transform on 'A' must stand at the top level of the file, not within a function, a class, an if or a try,"
        " because discovery does not run plugin code",
    ),
    "within a function": (
        "def make():\n    @transform(stage='x')\n    class A(Transformation): pass\n    return A",
        "{path}:12: @transform on 'A' must stand at the top level of the file, not within a function, a class, an if or a try,"
        " because discovery does not run plugin code",
    ),
    "within a class": (
        "class Outer:\n    @transform(stage='x')\n    class A(Transformation): pass",
        "{path}:12: @transform on 'A' must stand at the top level of the file, not within a function, a class, an if or a try,"
        " because discovery does not run plugin code",
    ),
    "within a with, by an alias": (
        "tr = transform\nwith open(__file__):\n    @tr(stage='x')\n    class A(Transformation): pass",
        "{path}:13: @transform on 'A' must stand at the top level of the file, not within a function, a class, an if or a try,"
        " because discovery does not run plugin code",
    ),
    "not Python": (
        "@transform(stage='x'\nclass A(Transformation): pass",
        "{path}:11:11: the file is not Python, so its plugins are not found: '(' was never closed",
    ),
    "groups that are computed": (
        "GROUPS = dict(a=['b'])\n",
        "{path}:11: GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code; found dict(a=['b'])",
    ),
    "groups of another form": (
        "GROUPS = {'a': 'b'}\n",
        "{path}:11: GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code; found {{'a': 'b'}}",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_a_problem_with_its_place(tmp_path, text, message):
    path = tmp_path / "a folder: with a colon" / "file.py"
    path.parent.mkdir()
    path.write_text(BASES.rstrip("\n") + "\nfrom brainsmith.plugin.core import transform\n" + text)
    found = read(path)
    assert [str(problem) for problem in found.problems] == [message.format(path=path)]
    assert found.records == []


def test_what_the_decorator_refuses_the_scan_refuses_with_the_same_words(tmp_path, registry):
    cases = (
        "",
        "stage='a', kernel='b'",
        "stage='Two Words'",
        "stage='x', priority='high'",
        "stage='x', name='a b'",
        "stage='x', tags='one'",
        "stage='x', requires=[1]",
        "kernel=3",
        "stage='x', author=1",
        "stage='x', priority=True",
    )
    for at, arguments in enumerate(cases):
        path = (
            tmp_path / f"file_{at}.py"
        )  # a name of its own: bytecode of the same second and size would be believed
        path.write_text(
            BASES
            + f"from brainsmith.plugin.core import transform\n@transform({arguments})\nclass A(Transformation): pass\n"
        )
        with pytest.raises(BrainsmithError) as caught:
            imported(path, registry)
        assert [str(problem) for problem in read(path).problems] == [str(caught.value)]


def test_one_bad_plugin_leaves_the_others_of_its_file(tmp_path):
    path = tmp_path / "file.py"
    path.write_text(
        "from brainsmith.plugin.core import step\n@step(nam='x')\ndef a(m, c): ...\n@step\ndef b(m, c): ...\n"
    )
    found = read(path)
    assert [info.name for info in found.records] == ["b"]
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    ("data", "may"),
    [
        (b"import brainsmith\n@x", True),
        (b"GROUPS = {}", True),
        (b"import brainsmith", False),
        (b"@x", False),
        (b"x = 1\n  @tools.step(name='a')\n", True),
        (b"@stepwise", False),
        ("@step".encode("utf-16"), True),
        (b"", False),
    ],
)
def test_the_pre_filter_lets_pass_what_can_hold_a_plugin(data, may):
    assert may_hold_plugins(data) is may
