"""Check the arguments of decorators: the same checks when a decorator runs and when the scan reads its source."""

from __future__ import annotations

from brainsmith import DECORATORS, TYPE_CHECKING, __version__
from brainsmith.errors import PluginDefinitionError
from brainsmith.plugin.info import BACKEND_TYPES, FIELDS, PLUGIN_TYPES, PluginInfo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_TEXTS = ("name", "version", "description", "author", "license", "min_brainsmith", "max_brainsmith")
_LISTS = ("requires", "requires_plugins", "tags")
_COMMON = (*_TEXTS, *_LISTS, "priority", "override")
_MANY = (list, tuple)
_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys((*_TEXTS, "domain", "op_type", "display_name", "vendor"), (str, "a string")),
    **dict.fromkeys(("priority", "num_inputs"), (int, "a number")),
    **dict.fromkeys(("override", "cache"), (bool, "True or False")),
    **dict.fromkeys((*_LISTS, "device_types", "inputs"), (_MANY, "a list of strings")),
}
"""What the value of a keyword must be, and how messages call it."""
_OWN: dict[str, tuple[str, ...]] = {
    "transform": ("stage", "kernel", "cache", "inputs"),
    "kernel": ("domain", "op_type"),
    "backend": ("kernel", "backend_type", "domain", "op_type"),
    "step": ("cache", "inputs"),
    "op": ("domain", "num_inputs"),
    "target": ("display_name", "vendor", "device_types"),
    "bundle": (),
}
_OUR_DEFAULTS = {"version": __version__, "author": "BrainSmith"}
"""What the plugins that come with this package need not say."""
_OUR_REQUIREMENTS = {"transform": ("qonnx",), **dict.fromkeys(("kernel", "backend", "step"), ("finn-plus",))}
"""The same, by plugin type: what the base class of the type is from, or what nearly all of the type use."""

DOOR = "brainsmith.plugins"
_HOMES = ("brainsmith", "brainsmith.plugin.core", "brainsmith.plugin", DOOR)
DECORATOR_TARGETS = {f"{home}.{name}": name for home in _HOMES for name in DECORATORS}
"""What a decorator's name can resolve to in a file's imports, and the plugin type that it makes."""

STARRED = frozenset(target for target in DECORATOR_TARGETS if not target.startswith(f"{DOOR}."))
"""Those that `from MODULE import *` gives: `brainsmith.plugins` gives its collections that way, and no decorators."""


def keywords(plugin_type: str) -> tuple[str, ...]:
    """Return the keywords that a type's decorator takes."""
    return (*_COMMON, *_OWN[plugin_type])


FUSED = "fused_elementwise"
"""The type of nodes that hold an expression; no op may have this name."""


def make_record(
    plugin_type: str, values: dict[str, Any], object_name: str, framework: str, reference: str, origin: str
) -> PluginInfo:
    """Check a decorator's arguments and return the plugin's record.

    Args:
        plugin_type: One of `PLUGIN_TYPES`.
        values: The keyword arguments.
        object_name: The name of the class or function, the default of `name`.
        framework: Where the plugin comes from.
        reference: `module:qualname`.
        origin: `file:line`, the place that every error names.

    Raises:
        PluginDefinitionError: A keyword is unknown, missing, or has a value that cannot be used.
    """
    for problem in _problems(plugin_type, values, object_name):
        raise PluginDefinitionError(f"{origin}: {problem}")
    name = values.get("name") or object_name
    stated = {key: value for key, value in values.items() if key in FIELDS and value not in (None, "")}
    defaults, extra = {}, _extra_of(plugin_type, name, values)
    if framework == "brainsmith":
        defaults = {**_OUR_DEFAULTS, "requires": _OUR_REQUIREMENTS.get(plugin_type, ())}
        if plugin_type in ("kernel", "backend"):
            extra.setdefault("domain", _our_domain(reference, values))
    return PluginInfo(
        **{**defaults, **stated, "name": name},
        type=plugin_type,
        framework=framework,
        reference=reference,
        origin=origin,
        extra=extra,
    )


def _our_domain(reference: str, values: dict[str, Any]) -> str:
    """Return the domain of one of our kernels or backends: its folder, or FINN's where it implements FINN's kernel.

    FINN's own passes look for the backends of its kernels there.
    """
    if (values.get("kernel") or "").startswith("finn:"):
        return f"finn.custom_op.fpgadataflow.{values['backend_type']}"
    return reference.partition(":")[0].rpartition(".")[0]


def _extra_of(plugin_type: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return what is stated beside the fields; a target always has a name for people and a vendor.

    What is empty, or False, is not stated; but `cache=False` states that a step is not kept.
    """
    said = {}
    for key, value in values.items():
        if key not in FIELDS and (key == "cache" or (value not in (None, "", (), []) and value is not False)):
            said[key] = tuple(value) if isinstance(value, list) else value
    return {"display_name": name, "vendor": "", **said} if plugin_type == "target" else said


def _problems(plugin_type: str, values: dict[str, Any], object_name: str) -> Iterator[str]:
    """Yield what is wrong with what a decorator says; of several the first one counts, which others may follow from."""
    from keyword import iskeyword  # listings check no name

    decorator = f"@{plugin_type}"
    if plugin_type not in PLUGIN_TYPES:
        yield f"{plugin_type!r} is not a plugin type; these are {', '.join(PLUGIN_TYPES)}"
    known = keywords(plugin_type)
    for key in values:
        if key not in known:
            from brainsmith.close_names import did_you_mean  # only for a message

            yield f"{decorator} has no keyword {key!r}{did_you_mean(key, known)}\n  it takes {', '.join(known)}"
    for key, value in values.items():
        if key in _TYPES and not fits(value, _TYPES[key][0]):
            yield f"{key}= of {decorator} must be {_TYPES[key][1]}, not {value!r}"
    name = object_name if values.get("name") is None else values["name"]
    if not name.isidentifier() or iskeyword(name):
        yield f"name= of {decorator} must be a Python identifier, not {name!r}"
    if plugin_type == "op" and name == FUSED:
        yield f"name= of @op cannot be {FUSED!r}: BrainSmith's own fused nodes have this type; choose another name"
    if plugin_type == "transform":
        yield from _transform_problems(values.get("stage"), values.get("kernel"))
    yield from _host_problems(plugin_type, values)
    if values.get("requires"):
        yield from _requirement_problems(plugin_type, values["requires"])
    if values.get("requires_plugins"):
        yield from _need_problems(plugin_type, values["requires_plugins"])
    if plugin_type == "backend":
        yield from _backend_problems(values.get("kernel"), values.get("backend_type"), values.get("domain"))


def fits(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Tell whether a value is of a kind, or states nothing (None)."""
    if value is None and kind in (str, int):
        return True
    is_one = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    return is_one and (kind is not _MANY or all(isinstance(item, str) for item in value))


def _transform_problems(stage: Any, kernel: Any) -> Iterator[str]:
    if (stage is None) == (kernel is None):
        found = "neither" if stage is None else "both"
        yield f"@transform needs either stage= (when it runs) or kernel= (which kernel it infers); found {found}"
    if stage is not None and not is_snake_case(stage):
        yield f"stage= of @transform must be a snake_case name such as 'topology_opt', not {stage!r}"
    if kernel is not None and (not isinstance(kernel, str) or not kernel):
        yield f"kernel= of @transform must be a kernel's name, not {kernel!r}"


def _host_problems(plugin_type: str, values: dict[str, Any]) -> Iterator[str]:
    for key in ("min_brainsmith", "max_brainsmith"):
        if values.get(key) and isinstance(values[key], str):
            from brainsmith.plugin.version import Version  # hardly any plugin states one

            try:
                Version.parse(values[key])
            except ValueError as error:
                yield f"{key}= of @{plugin_type}: {error}"


def _requirement_problems(plugin_type: str, requirements: Any) -> Iterator[str]:
    for text in requirements if fits(requirements, _MANY) else ():
        if not text.replace("-", "_").isidentifier():  # most are bare names
            from brainsmith.plugin.packages import requirement_problem  # for versions, which few state

            problem = requirement_problem(text)
            if problem:
                yield f"requires= of @{plugin_type} names {problem}"


def _need_problems(plugin_type: str, needs: Any) -> Iterator[str]:
    from brainsmith.plugin.plugin_needs import read_need  # hardly any plugin requires others

    for text in needs if fits(needs, _MANY) else ():
        try:
            read_need(text, plugin_type, "")
        except ValueError as error:
            yield f"requires_plugins= of @{plugin_type} {error}"


def _backend_problems(kernel: Any, backend_type: Any, domain: str | None) -> Iterator[str]:
    if not isinstance(kernel, str) or not kernel:
        yield f"@backend needs kernel=, the name of the kernel that it implements; found {kernel!r}"
    if backend_type not in BACKEND_TYPES:
        yield f"backend_type= of @backend must be {' or '.join(map(repr, BACKEND_TYPES))}, not {backend_type!r}"
    if domain and not domain.endswith(f".{backend_type}"):
        why = f"because FINN recognises {backend_type.upper()} nodes by that"
        yield f"domain= of @backend must end in '.{backend_type}', {why}; found {domain!r}"


def is_snake_case(name: object) -> bool:
    """Tell whether a value is a name such as `topology_opt`."""
    return isinstance(name, str) and name.isidentifier() and name == name.lower()


KINDS = {
    "transform": (
        "a subclass of qonnx's Transformation",
        ("qonnx.transformation.base",),
        ("Transformation",),
    ),
    "kernel": ("a subclass of FINN's HWCustomOp", ("finn.",), ("HWCustomOp",)),
    "backend": ("a subclass of FINN's HLSBackend or RTLBackend", ("finn.",), ("HLSBackend", "RTLBackend")),
    "op": (
        "a subclass of brainsmith.ops.Op or of qonnx's CustomOp",
        ("brainsmith.", "qonnx.custom_op."),
        ("Op", "CustomOp"),
    ),
}
"""What the object of a type must be, in words, and the bases that show it: module prefixes and class names."""


def check_kind(plugin_type: str, obj: Any, origin: str) -> None:
    """Check that an object is of the kind that its type demands.

    Args:
        plugin_type: One of `PLUGIN_TYPES`.
        obj: The class or function that is decorated.
        origin: Its place, for the message.

    Raises:
        PluginDefinitionError: It is of another kind.
    """
    problem = _step_problem(obj) if plugin_type == "step" else _class_problem(plugin_type, obj)
    if problem:
        raise PluginDefinitionError(f"{origin}: {problem}")


def _class_problem(plugin_type: str, obj: Any) -> str:
    if plugin_type not in KINDS:
        return ""
    wanted, modules, names = KINDS[plugin_type]
    bases = obj.__mro__ if isinstance(obj, type) else ()
    if any(base.__name__ in names and base.__module__.startswith(modules) for base in bases):
        return ""
    return f"@{plugin_type} needs {wanted}, not {_describe(obj)}"


def _step_problem(function: Any) -> str:
    if isinstance(function, type) or not callable(function):
        return f"@step needs a function (model, cfg) -> model, not {_describe(function)}"
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    name = function.__name__
    if code.co_flags & _COROUTINE:
        return f"@step needs a function (model, cfg) -> model, not the coroutine {name}"
    required = code.co_argcount - len(function.__defaults__ or ())
    by_name = code.co_kwonlyargcount - len(function.__kwdefaults__ or ())
    if takes_model_and_cfg(code.co_argcount, required, by_name, bool(code.co_flags & _TAKES_MORE)):
        return ""
    return step_message(name, required + by_name)


def takes_model_and_cfg(count: int, required: int, by_name: int, takes_more: bool) -> bool:
    """Tell whether a function can be called as `f(model, cfg)`.

    Args:
        count: Its positional parameters.
        required: Those of them that have no default.
        by_name: Its parameters that must be given by name.
        takes_more: Whether it has `*args`.
    """
    return required <= 2 and not by_name and (count >= 2 or takes_more)


def step_message(name: str, required: int) -> str:
    """Return the problem of a function that cannot be called as a step, as the decorator and as the scan see it."""
    from brainsmith.figures import plural  # only for a message

    return f"@step needs a function (model, cfg) -> model; {name} takes {plural(required, 'argument')}"


_TAKES_MORE, _COROUTINE = 0x04, 0x80
"""Flags of a function's code (`inspect.CO_VARARGS`, `inspect.CO_COROUTINE`)."""


def _describe(obj: Any) -> str:
    if isinstance(obj, type):
        bases = ", ".join(base.__name__ for base in obj.__bases__)
        return f"the class {obj.__name__}({bases})"
    return f"the {type(obj).__name__} {getattr(obj, '__name__', obj)!s}"
