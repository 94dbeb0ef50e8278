"""The text that determines what a Python callable does, or the reason why there is none."""

from __future__ import annotations

import os
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

from brainsmith.store.imported_sources import imported_source, is_installed

_PLAIN = (str, bytes, int, float, bool, complex, type(None), Path)
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_WRAPPED = ("__func__", "fget", "fset", "fdel", "func")  # of methods and properties


class Uncacheable(Exception):  # noqa: N818 - not an error of the user's: the step just runs each time
    """Why a step's result is not kept."""


def callable_source(function: Any) -> str:
    """Return a text that changes with a function's code, closure, defaults and the user's own modules.

    The user's own functions and classes that it uses count in the same way: a global that one of them reads may
    have been set at run time, and what was typed into a shell stands in no file.

    Args:
        function: A function or lambda.

    Raises:
        Uncacheable: It depends on an object whose value cannot be written down.
    """
    if not isinstance(function, types.FunctionType):
        raise Uncacheable(f"it is {_a(function)}, not a function")
    return "\n".join([*_Writer().function(function), *_user_modules()])


class _Writer:
    """Writes values in a form whose repr is the same in every process; each function and class once."""

    def __init__(self) -> None:
        self._written: set[int] = set()

    def function(self, function: types.FunctionType) -> list[str]:
        """Write down what a function is made of."""
        parts = [_code(function.__code__), repr(self._value(function.__defaults__, "a default"))]
        parts.append(repr(self._value(function.__kwdefaults__, "a default")))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                parts.append(f"{name} is not set")
                continue
            parts.append(f"{name}={self._value(content, f'its variable {name!r}')!r}")
        scope = function.__globals__
        used = sorted(_names(function.__code__).intersection(scope))
        parts.extend(f"{name}={self._value(scope[name], f'the global {name!r}')!r}" for name in used)
        return parts

    def _value(self, value: Any, what: str) -> Any:
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, (tuple, list)):
            return [self._value(entry, what) for entry in value]
        if isinstance(value, dict):
            return [(key, self._value(value[key], what)) for key in sorted(value, key=str)]
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, (types.FunctionType, type)) and _is_users(value.__module__):
            return self._users(value)
        if isinstance(value, types.FunctionType) and value.__closure__ is None:
            return f"function {value.__module__}.{value.__qualname__} {_code(value.__code__)}"
        if isinstance(value, (type, types.BuiltinFunctionType)):
            return f"{value.__module__}.{value.__qualname__}"
        # The door's collections: the plugins are in the key.
        if type(value).__module__.startswith("brainsmith."):
            return f"{type(value).__module__}.{type(value).__qualname__}"
        raise Uncacheable(f"{what} is {_a(value)}, whose content is not part of a key")

    def _users(self, value: types.FunctionType | type) -> list[Any]:
        """Write a function or class of the user's down, where it is met first."""
        name = f"{value.__module__}.{value.__qualname__}"
        if id(value) in self._written:
            return [name]
        self._written.add(id(value))
        if isinstance(value, types.FunctionType):
            return [name, *self.function(value)]
        bases = [self._value(base, "a base") for base in value.__bases__]
        members = [
            (key, self._member(member, f"{value.__qualname__}.{key}"))
            for key, member in sorted(vars(value).items())
            if not _is_python_s(key, member)
        ]
        return [name, bases, members]

    def _member(self, member: Any, what: str) -> list[Any]:
        wrapped = [getattr(member, name, None) for name in _WRAPPED]
        functions = [function for function in wrapped if isinstance(function, types.FunctionType)]
        return [self._value(part, what) for part in functions or [member]]


def _is_python_s(name: str, member: Any) -> bool:
    """Tell whether Python itself put a member into a class."""
    if name.startswith("_abc_") or isinstance(member, _DESCRIPTORS):
        return True
    return name.startswith("__") and name.endswith("__") and not isinstance(member, types.FunctionType)


def _is_users(module_name: str) -> bool:
    """Tell whether a module is neither Python's nor installed; a shell's has no file."""
    if module_name.partition(".")[0] == "brainsmith":
        return False
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    if file:
        return not is_installed(_resolved(file))
    return getattr(module, "__spec__", None) is None


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
    """Return the source of every loaded module that is neither Python's nor installed, as it was when it was loaded."""
    texts = []
    for name, module in sorted(sys.modules.copy().items()):
        file = getattr(module, "__file__", None)
        if not file or not _is_users_file(file) or name.partition(".")[0] == "brainsmith":
            continue
        path = _resolved(file)
        if Path(path).is_file():
            source = imported_source(name)
            if source is None:
                raise Uncacheable(f"{path} may have changed since it was imported as {name!r}")
            texts.append(f"{name}\n{source.digest}")
    return texts


@cache
def _is_users_file(file: str) -> bool:
    """Tell whether a module's file is Python's text and neither Python's own nor installed."""
    return file.endswith(".py") and not is_installed(_resolved(file))


@cache
def _resolved(file: str) -> str:
    """Return where a module's file really is; links that change afterwards do not change what was imported."""
    return os.path.realpath(file)


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
