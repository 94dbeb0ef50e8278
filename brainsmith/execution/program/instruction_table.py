"""The one table of the functions that instructions name.

A function lives in a module of `functions/`, and is called `module.function`. It takes arrays, then keyword
parameters, and returns an array or a tuple of them; it changes none of its arguments, but may return a view of one.
A *factory* takes the parameters alone, and returns such a function; it is called once for each instruction of a
loaded program, when that first runs: for what has a state, such as a session.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

_FOUND: dict[str, tuple[Callable[..., Any], bool]] = {}


def instruction(function: F) -> F:
    """Enter a function over arrays in the table (decorator)."""
    _FOUND[name_of(function)] = (function, False)
    return function


def factory(function: F) -> F:
    """Enter a function that makes a function over arrays of its parameters (decorator)."""
    _FOUND[name_of(function)] = (function, True)
    return function


def name_of(function: Callable[..., Any]) -> str:
    """Return the name under which a function is in the table."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def find(name: str, parameters: dict[str, Any]) -> Callable[..., Any]:
    """Return the function over arrays that an instruction stands for.

    Raises:
        LookupError: No function has this name: the program is of another version.
    """
    if name not in _FOUND:
        module = name.partition(".")[0]
        if not module.isidentifier():
            raise LookupError(f"no instruction {name!r}")
        try:
            import_module("brainsmith.execution.program.functions." + module)
        except ModuleNotFoundError as error:
            raise LookupError(f"no instruction {name!r}") from error
    if name not in _FOUND:
        raise LookupError(f"no instruction {name!r}")
    function, makes = _FOUND[name]
    if makes:
        return function(**parameters)  # type: ignore[no-any-return]
    return partial(function, **parameters) if parameters else function
