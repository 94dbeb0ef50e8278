"""What a decorator may say: one place that checks it, for the decorator when it runs and for the scan that reads it."""

from __future__ import annotations

from brainsmith import DECORATORS
from brainsmith.errors import PluginDefinitionError
from brainsmith.plugin.info import BACKEND_TYPES, PLUGIN_TYPES, PluginInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("name", "version", "description", "author", "license", "min_brainsmith", "max_brainsmith")
_LISTS = ("requires", "tags")
_COMMON = (*_TEXTS, *_LISTS, "priority", "override")
_OWN: dict[str, tuple[str, ...]] = {
    "transform": ("stage", "kernel", "cache", "inputs"),
    "kernel": ("domain", "op_type"),
    "backend": ("kernel", "backend_type", "domain", "op_type"),
    "step": ("cache", "inputs"),
    "op": ("domain", "num_inputs"),
    "target": ("display_name", "vendor", "device_types", "depends_on"),
    "bundle": (),
}
_EXTRA = (
    "license",
    "domain",
    "op_type",
    "num_inputs",
    "display_name",
    "vendor",
    "depends_on",
    "override",
    "inputs",
)

DOOR = "brainsmith.plugins"
_HOMES = ("brainsmith", "brainsmith.plugin.core", "brainsmith.plugin", DOOR)
DECORATOR_TARGETS = {f"{home}.{name}": name for home in _HOMES for name in DECORATORS}
"""What a decorator's name can resolve to in a file's imports, and the plugin type that it makes."""

STARRED = frozenset(target for target in DECORATOR_TARGETS if not target.startswith(f"{DOOR}."))
"""Those that `from MODULE import *` gives: the door gives its collections that way, and no decorators."""


def keywords(plugin_type: str) -> tuple[str, ...]:
    """Return the keywords that a type's decorator takes."""
    return (*_COMMON, *_OWN[plugin_type])


FUSED = "fused_elementwise"
"""The type of nodes that hold an expression; no op may have this name."""


def make_record(
    plugin_type: str, values: dict[str, Any], object_name: str, framework: str, reference: str, origin: str
) -> PluginInfo:
    """Check what a decorator says and make the record of it.

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
    from keyword import iskeyword  # listings check no name

    decorator = f"@{plugin_type}"
    _check_keywords(plugin_type, values, origin)
    for field in (*_TEXTS, "domain", "op_type", "display_name", "vendor"):
        _expect(values, field, str, "a string", decorator, origin)
    for field in ("priority", "num_inputs"):
        _expect(values, field, int, "a number", decorator, origin)
    for field in ("override", "cache"):
        if not isinstance(values.get(field, False), bool):
            raise PluginDefinitionError(
                f"{origin}: {field}= of {decorator} must be True or False, not {values[field]!r}"
            )
    listed = (*_LISTS, "device_types", "depends_on", "inputs")
    lists = {field: _strings(values, field, decorator, origin) for field in listed}
    name = object_name if values.get("name") is None else values["name"]
    if not name.isidentifier() or iskeyword(name):
        raise PluginDefinitionError(
            f"{origin}: name= of {decorator} must be a Python identifier, not {name!r}"
        )
    if plugin_type == "op" and name == FUSED:
        raise PluginDefinitionError(
            f"{origin}: name= of @op cannot be {FUSED!r}: nodes of this type hold an expression; take another name"
        )
    _CHECKS.get(plugin_type, _check_nothing)(values, origin)
    return PluginInfo(
        name=name,
        type=plugin_type,
        framework=framework,
        reference=reference,
        version=values.get("version", ""),
        description=values.get("description", ""),
        author=values.get("author", ""),
        requires=lists["requires"],
        min_brainsmith=values.get("min_brainsmith", ""),
        max_brainsmith=values.get("max_brainsmith", ""),
        priority=values.get("priority", 50),
        stage=values.get("stage"),
        kernel=values.get("kernel"),
        backend_type=values.get("backend_type"),
        device_types=lists["device_types"],
        tags=lists["tags"],
        origin=origin,
        extra=_extra_of(
            plugin_type, name, values | {field: lists[field] for field in ("depends_on", "inputs")}
        ),
    )


def _extra_of(plugin_type: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return what is stated beside the fields; a target always has a name for people and a vendor."""
    said = {
        key: values[key]
        for key in _EXTRA
        if values.get(key) not in (None, "", ()) and values[key] is not False
    }
    if "cache" in values:  # False states that a step is not kept
        said["cache"] = values["cache"]
    return {"display_name": name, "vendor": "", **said} if plugin_type == "target" else said


def _check_keywords(plugin_type: str, values: dict[str, Any], origin: str) -> None:
    if plugin_type not in PLUGIN_TYPES:
        raise PluginDefinitionError(
            f"{origin}: {plugin_type!r} is not a plugin type; these are {', '.join(PLUGIN_TYPES)}"
        )
    known = keywords(plugin_type)
    for key in values:
        if key not in known:
            from brainsmith.close_names import did_you_mean  # only for a message

            raise PluginDefinitionError(
                f"{origin}: @{plugin_type} has no keyword {key!r}{did_you_mean(key, known)}\n  it takes {', '.join(known)}"
            )


def _expect(values: dict[str, Any], field: str, kind: type, what: str, decorator: str, origin: str) -> None:
    value = values.get(field)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise PluginDefinitionError(f"{origin}: {field}= of {decorator} must be {what}, not {value!r}")


def _strings(values: dict[str, Any], field: str, decorator: str, origin: str) -> tuple[str, ...]:
    value = values.get(field, ())
    if (
        isinstance(value, str)
        or not isinstance(value, list | tuple)
        or not all(isinstance(x, str) for x in value)
    ):
        raise PluginDefinitionError(
            f"{origin}: {field}= of {decorator} must be a list of strings, not {value!r}"
        )
    return tuple(value)


def _check_transform(values: dict[str, Any], origin: str) -> None:
    stage, kernel = values.get("stage"), values.get("kernel")
    if (stage is None) == (kernel is None):
        found = "neither" if stage is None else "both"
        raise PluginDefinitionError(
            f"{origin}: @transform needs either stage= (when it runs) or kernel= (which kernel it infers); found {found}"
        )
    if stage is not None and not is_snake_case(stage):
        raise PluginDefinitionError(
            f"{origin}: stage= of @transform must be a snake_case name such as 'topology_opt', not {stage!r}"
        )
    if kernel is not None and (not isinstance(kernel, str) or not kernel):
        raise PluginDefinitionError(
            f"{origin}: kernel= of @transform must be a kernel's name, not {kernel!r}"
        )


def _check_backend(values: dict[str, Any], origin: str) -> None:
    kernel, backend_type = values.get("kernel"), values.get("backend_type")
    if not isinstance(kernel, str) or not kernel:
        raise PluginDefinitionError(
            f"{origin}: @backend needs kernel=, the name of the kernel that it implements; found {kernel!r}"
        )
    if backend_type not in BACKEND_TYPES:
        raise PluginDefinitionError(
            f"{origin}: backend_type= of @backend must be {' or '.join(map(repr, BACKEND_TYPES))}, not {backend_type!r}"
        )
    domain = values.get("domain")
    if domain and not domain.endswith(f".{backend_type}"):
        raise PluginDefinitionError(
            f"{origin}: domain= of @backend must end in '.{backend_type}', by which its nodes are known as "
            f"{backend_type.upper()}, not {domain!r}"
        )


def _check_nothing(values: dict[str, Any], origin: str) -> None:
    pass


_CHECKS = {"transform": _check_transform, "backend": _check_backend}


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
    if plugin_type == "step":
        if isinstance(obj, type) or not callable(obj):
            raise PluginDefinitionError(
                f"{origin}: @step needs a function (model, cfg) -> model, not {_describe(obj)}"
            )
        _check_step_function(obj, origin)
        return
    if plugin_type not in KINDS:
        return
    wanted, modules, names = KINDS[plugin_type]
    if not isinstance(obj, type) or not any(
        base.__name__ in names and base.__module__.startswith(modules) for base in obj.__mro__
    ):
        raise PluginDefinitionError(f"{origin}: @{plugin_type} needs {wanted}, not {_describe(obj)}")


def _check_step_function(function: Any, origin: str) -> None:
    code = getattr(function, "__code__", None)
    if code is None:
        return
    name = function.__name__
    if code.co_flags & _COROUTINE:
        raise PluginDefinitionError(
            f"{origin}: @step needs a function (model, cfg) -> model, not the coroutine {name}"
        )
    required = code.co_argcount - len(function.__defaults__ or ())
    by_name = code.co_kwonlyargcount - len(function.__kwdefaults__ or ())
    if not takes_model_and_cfg(code.co_argcount, required, by_name, bool(code.co_flags & _TAKES_MORE)):
        raise PluginDefinitionError(f"{origin}: {step_message(name, required + by_name)}")


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
