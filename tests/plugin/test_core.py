"""The decorators: what they enter, what they refuse, and that they leave the object alone."""

import functools
import inspect

import pytest

from brainsmith import DECORATORS
from brainsmith.autodiff.op import Op
from brainsmith.errors import DuplicatePluginError, PluginDefinitionError
from brainsmith.plugin import core
from brainsmith.plugin.core import backend, bundle, get_registry, kernel, op, step, target, transform
from brainsmith.plugin.plugin_registry import REGISTRY
from tests.plugin.test_scan import BASES

namespace = {}
exec(BASES, namespace)
Transformation, HWCustomOp = namespace["Transformation"], namespace["HWCustomOp"]
HLSBackend, RTLBackend = namespace["HLSBackend"], namespace["RTLBackend"]


def raising_line(caught):
    """Return `file:line` of the line in this file that raised."""
    return f"{__file__}:{caught.traceback[0].lineno + 1}"


@pytest.mark.slow
def test_a_decorator_returns_the_object_unchanged():
    class A(Transformation):
        pass

    before = dict(vars(A))
    assert transform(stage="x")(A) is A
    assert dict(vars(A)) == before
    assert get_registry().get("transform", "A") is A


def test_a_transform_s_record():
    @transform(
        name="Tidy",
        stage="topology_opt",
        description="d",
        author="a",
        version="1.2.3",
        requires=["qonnx"],
        tags=("x", "y"),
        priority=70,
        min_brainsmith="0.1.0",
        max_brainsmith="1.0.0",
    )
    class A(Transformation):
        pass

    info = get_registry().resolve("transform", "Tidy")
    assert dict(info) == {
        "name": "Tidy",
        "type": "transform",
        "framework": "project",
        "reference": f"{__name__}:{A.__qualname__}",
        "stage": "topology_opt",
        "description": "d",
        "author": "a",
        "version": "1.2.3",
        "requires": ("qonnx",),
        "tags": ("x", "y"),
        "priority": 70,
        "min_brainsmith": "0.1.0",
        "max_brainsmith": "1.0.0",
        "origin": f"{__file__}:{inspect.getsourcelines(A)[1]}",
    }
    assert info["class"] is A


@pytest.mark.parametrize(
    ("decorator", "arguments", "base", "expected"),
    [
        (kernel, {}, HWCustomOp, {}),
        (kernel, {"domain": "a.b"}, HWCustomOp, {"domain": "a.b"}),
        (backend, {"kernel": "K", "backend_type": "hls"}, HLSBackend, {"kernel": "K", "backend_type": "hls"}),
        (
            backend,
            {"kernel": "finn:K", "backend_type": "rtl"},
            RTLBackend,
            {"kernel": "finn:K", "backend_type": "rtl"},
        ),
        (transform, {"kernel": "K"}, Transformation, {"kernel": "K"}),
        (op, {"num_inputs": 2}, Op, {"num_inputs": 2}),
        (
            target,
            {"vendor": "v", "display_name": "d", "device_types": ["cpu"]},
            object,
            {"vendor": "v", "display_name": "d", "device_types": ("cpu",)},
        ),
        (bundle, {}, object, {}),
    ],
)
def test_every_type_has_its_own_keywords(decorator, arguments, base, expected):
    made = decorator(**arguments)(type("Made", (base,), {"__module__": __name__}))
    info = get_registry().resolve(decorator.__name__, "Made")
    assert {key: info[key] for key in expected} == expected
    assert info.load() is made


def test_a_bare_decorator_and_an_empty_one_take_the_function_s_name():
    @step
    def first(model, cfg):
        return model

    @step()
    def second(model, cfg):
        return model

    assert get_registry().get("step", "first") is first
    assert get_registry().get("step", "second") is second
    assert first.__name__ == "first"


def test_stacked_decorators_enter_what_they_are_given():
    @step(name="kept")
    @functools.lru_cache
    def cached(model, cfg):
        return model

    assert get_registry().get("step", "kept") is cached


KEYWORDS = (
    "name, version, description, author, license, min_brainsmith, max_brainsmith, requires, requires_plugins, tags,"
    " priority, override"
)
REFUSED = {
    "an unknown keyword": (
        transform,
        {"stag": "x"},
        Transformation,
        f"@transform has no keyword 'stag'. Did you mean 'stage'?\n  it takes {KEYWORDS}, stage, kernel, cache, inputs",
    ),
    "an unknown keyword that is close to nothing": (
        step,
        {"zzz": 1},
        None,
        f"@step has no keyword 'zzz'\n  it takes {KEYWORDS}, cache, inputs",
    ),
    "a keyword of another type": (
        kernel,
        {"stage": "x"},
        HWCustomOp,
        f"@kernel has no keyword 'stage'. Did you mean 'tags'?\n  it takes {KEYWORDS}, domain, op_type",
    ),
    "neither stage nor kernel": (
        transform,
        {},
        Transformation,
        "@transform needs either stage= (when it runs) or kernel= (which kernel it infers); found neither",
    ),
    "both stage and kernel": (
        transform,
        {"stage": "x", "kernel": "K"},
        Transformation,
        "@transform needs either stage= (when it runs) or kernel= (which kernel it infers); found both",
    ),
    "a stage that is no name": (
        transform,
        {"stage": "Topology Opt"},
        Transformation,
        "stage= of @transform must be a snake_case name such as 'topology_opt', not 'Topology Opt'",
    ),
    "an empty stage": (
        transform,
        {"stage": ""},
        Transformation,
        "stage= of @transform must be a snake_case name such as 'topology_opt', not ''",
    ),
    "a kernel that is no name": (
        transform,
        {"kernel": 3},
        Transformation,
        "kernel= of @transform must be a kernel's name, not 3",
    ),
    "an empty kernel": (
        transform,
        {"kernel": ""},
        Transformation,
        "kernel= of @transform must be a kernel's name, not ''",
    ),
    "a backend without kernel": (
        backend,
        {"backend_type": "hls"},
        HLSBackend,
        "@backend needs kernel=, the name of the kernel that it implements; found None",
    ),
    "a backend without type": (
        backend,
        {"kernel": "K"},
        HLSBackend,
        "backend_type= of @backend must be 'hls' or 'rtl', not None",
    ),
    "an unknown backend type": (
        backend,
        {"kernel": "K", "backend_type": "vhdl"},
        HLSBackend,
        "backend_type= of @backend must be 'hls' or 'rtl', not 'vhdl'",
    ),
    "a backend type that is a list": (
        backend,
        {"kernel": "K", "backend_type": ["hls"]},
        HLSBackend,
        "backend_type= of @backend must be 'hls' or 'rtl', not ['hls']",
    ),
    "a backend whose domain is of another type": (
        backend,
        {"kernel": "K", "backend_type": "rtl", "domain": "acme.backends"},
        HLSBackend,
        "domain= of @backend must end in '.rtl', because FINN recognises RTL nodes by that; found 'acme.backends'",
    ),
    "a name that is no identifier": (
        step,
        {"name": "two words"},
        None,
        "name= of @step must be a Python identifier, not 'two words'",
    ),
    "a name that is a keyword": (
        step,
        {"name": "import"},
        None,
        "name= of @step must be a Python identifier, not 'import'",
    ),
    "an empty name": (step, {"name": ""}, None, "name= of @step must be a Python identifier, not ''"),
    "a name that is no text": (step, {"name": 3}, None, "name= of @step must be a string, not 3"),
    "a priority that is no number": (
        step,
        {"priority": "high"},
        None,
        "priority= of @step must be a number, not 'high'",
    ),
    "a priority that is a truth": (
        step,
        {"priority": True},
        None,
        "priority= of @step must be a number, not True",
    ),
    "requires that is a text": (
        step,
        {"requires": "qonnx"},
        None,
        "requires= of @step must be a list of strings, not 'qonnx'",
    ),
    "tags that are numbers": (step, {"tags": [1]}, None, "tags= of @step must be a list of strings, not [1]"),
    "override that is no truth": (
        step,
        {"override": "yes"},
        None,
        "override= of @step must be True or False, not 'yes'",
    ),
    "a transform of another kind": (
        transform,
        {"stage": "x"},
        object,
        "@transform needs a subclass of qonnx's Transformation, not the class Made(object)",
    ),
    "a kernel of another kind": (
        kernel,
        {},
        Transformation,
        "@kernel needs a subclass of FINN's HWCustomOp, not the class Made(Transformation)",
    ),
    "a backend of another kind": (
        backend,
        {"kernel": "K", "backend_type": "hls"},
        HWCustomOp,
        "@backend needs a subclass of FINN's HLSBackend or RTLBackend, not the class Made(HWCustomOp)",
    ),
    "a step that is a class": (
        step,
        {},
        object,
        "@step needs a function (model, cfg) -> model, not the class Made(object)",
    ),
}


@pytest.mark.parametrize(("decorator", "arguments", "base", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_an_error_that_names_the_place(decorator, arguments, base, message):
    def made(model, cfg):
        return model

    obj = type("Made", (base,), {}) if base else made
    before = REGISTRY.records()
    with pytest.raises(PluginDefinitionError) as caught:
        decorator(**arguments)(obj)
    assert str(caught.value) == f"{raising_line(caught)}: {message}"
    assert REGISTRY.records() == before


def test_a_function_is_no_transform():
    with pytest.raises(
        PluginDefinitionError,
        match=r"@transform needs a subclass of qonnx's Transformation, not the function f$",
    ):

        @transform(stage="x")
        def f(model):
            pass


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (lambda model: model, "1 argument"),
        (lambda model, cfg, more: model, "3 arguments"),
        (lambda: None, "0 arguments"),
        (lambda model, cfg, *, more: model, "3 arguments"),
    ],
)
def test_a_step_must_take_model_and_cfg(function, takes):
    function.__name__ = "wrong"
    with pytest.raises(PluginDefinitionError) as caught:
        step(name="x")(function)
    assert (
        str(caught.value)
        == f"{raising_line(caught)}: @step needs a function (model, cfg) -> model; wrong takes {takes}"
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda model, cfg, more=1: model,
        lambda *args: args,
        lambda model, cfg=None: model,
        lambda model, *rest: model,
    ],
)
def test_a_step_may_take_more_with_defaults(function):
    step(name="fine")(function)
    assert get_registry().get("step", "fine") is function


def test_positional_arguments_are_refused():
    with pytest.raises(PluginDefinitionError) as caught:
        transform("Name", stage="x")
    assert (
        str(caught.value)
        == f"{raising_line(caught)}: @transform takes keywords only, such as @transform(name=\"X\"); found 'Name'"
    )


def test_two_objects_of_one_name_are_an_error_that_names_both_places():
    @step(name="twice")
    def a(model, cfg):
        return 1

    with pytest.raises(DuplicatePluginError) as caught:

        @step(name="twice")
        def b(model, cfg):
            return 2

    places = f"  {__file__}:{a.__code__.co_firstlineno}\n  {raising_line(caught)}"
    assert str(caught.value) == f"step 'twice' is defined twice in framework 'project':\n{places}"
    assert get_registry().get("step", "twice") is a


def test_override_says_that_it_is_meant():
    @step(name="twice")
    def a(model, cfg):
        return 1

    @step(name="twice", override=True)
    def b(model, cfg):
        return 2

    assert get_registry().get("step", "twice") is b
    assert len(get_registry().records("step", framework="project")) == 1


def test_the_same_object_again_replaces_itself():
    """As when a cell of a notebook runs again: same module and qualified name."""

    def define(result):
        @step
        def again(model, cfg):
            return result

        return again

    define(1)
    second = define(2)
    assert get_registry().get("step", "again") is second


def test_pitfall_14_a_clash_is_found_in_every_order():
    """[a, x, x] raises, and so does [a, x, b, x]."""

    def make(result):
        def function(model, cfg):
            return result

        function.__qualname__ = f"f{result}"
        return function

    a, b = make(1), make(2)
    step(name="x")(a)
    step(name="other")(b)
    step(name="x")(a)
    with pytest.raises(DuplicatePluginError):
        step(name="x")(b)
    step(name="x")(a)
    with pytest.raises(DuplicatePluginError):
        step(name="x")(b)
    assert get_registry().get("step", "x") is a


def test_pitfall_12_a_type_error_in_a_plugin_s_own_class_is_shown_as_it_is():
    class Meta(type):
        def __getattribute__(cls, name):
            if name == "__mro__":
                raise TypeError("the plugin's own")
            return super().__getattribute__(name)

    class Odd(metaclass=Meta):
        pass

    with pytest.raises(TypeError, match="the plugin's own"):
        transform(stage="x")(Odd)


def test_every_decorator_says_what_it_is():
    assert [getattr(core, name).__name__ for name in DECORATORS] == list(DECORATORS)
