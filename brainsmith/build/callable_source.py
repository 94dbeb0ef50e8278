"""The text that determines what a Python callable does, or the reason why there is none."""

from __future__ import annotations

import site
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

_PLAIN = (str, bytes, int, float, bool, complex, type(None), Path)


class Uncacheable(Exception):  # noqa: N818 - not an error of the user's: the step just runs each time
    """Why a step's result is not kept."""


def callable_source(function: Any) -> str:
    """Return a text that changes with a function's code, closure, defaults and the user's own modules.

    Args:
        function: A function or lambda.

    Raises:
        Uncacheable: It depends on an object whose value cannot be written down.
    """
    if not isinstance(function, types.FunctionType):
        raise Uncacheable(f"it is {_a(function)}, not a function")
    parts = [_code(function.__code__), repr(_value(function.__defaults__, "a default"))]
    parts.append(repr(_value(function.__kwdefaults__, "a default")))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        parts.append(f"{name}={_value(cell.cell_contents, f'its variable {name!r}')!r}")
    scope = function.__globals__
    used = sorted(_names(function.__code__).intersection(scope))
    parts.extend(f"{name}={_value(scope[name], f'the global {name!r}')!r}" for name in used)
    parts.extend(_user_modules())
    return "\n".join(parts)


def _value(value: Any, what: str) -> Any:
    """Return a value in a form whose repr is the same in every process."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (tuple, list)):
        return [_value(entry, what) for entry in value]
    if isinstance(value, dict):
        return [(key, _value(value[key], what)) for key in sorted(value, key=str)]
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, types.FunctionType) and value.__closure__ is None:
        return f"function {value.__module__}.{value.__qualname__} {_code(value.__code__)}"
    if isinstance(value, (type, types.BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    if type(value).__module__.startswith("brainsmith."):  # the door's collections: the plugins are in the key
        return f"{type(value).__module__}.{type(value).__qualname__}"
    raise Uncacheable(f"{what} is {_a(value)}, whose content is not part of a key")


def _code(code: types.CodeType) -> str:
    """Write code down; `marshal` would depend on how often each constant is referenced at the moment."""
    constants = [
        _code(constant) if isinstance(constant, types.CodeType) else _constant(constant)
        for constant in code.co_consts
    ]
    return repr(
        (code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars, code.co_flags)
    )


def _constant(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _user_modules() -> list[str]:
    """Return the source of every loaded module that is neither Python's nor installed."""
    libraries = tuple(
        str(Path(folder).resolve())
        for folder in {
            *site.getsitepackages(),
            sysconfig.get_path("stdlib"),
            sysconfig.get_path("platstdlib"),
        }
    )
    texts = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py") or name.partition(".")[0] == "brainsmith":
            continue
        path = Path(file).resolve()
        if not str(path).startswith(libraries) and path.is_file():
            texts.append(f"{name}\n{path.read_text(errors='replace')}")
    return texts


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
