"""What FINN's modules get in place of what is missing, or of what they need only later.

Both are seen by the import statements of the modules concerned alone, through the `__import__` of their own builtins.
Nothing of it enters `sys.modules`, where other packages look (scipy and sklearn for torch, for example).
"""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from brainsmith.errors import FrameworkUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    ImportFunction = Callable[..., Any]

DEFERRED = ("finn.transformation", "scipy")
"""Packages of which a kernel's module gets names that load at their first use.

FINN+ 1.6.1: the RTL element-wise kernels take an enumeration from the loop-rolling transformation, which imports
onnxscript and sympy (1 s, 40 MB); softmax takes a function from scipy.special (0.3 s).
"""


def _importing(instead: Callable[[str, Sequence[str] | None], object]) -> ImportFunction:
    """Return a function that imports as `__import__` does, but for what another one gives something for.

    Args:
        instead: Is given the name and what is imported from it; returns None for what is imported as usual.
    """

    def import_as(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        given = None if level else instead(name, fromlist)
        return builtins.__import__(name, globals, locals, fromlist or (), level) if given is None else given

    return import_as


def _placeholder(name: str, fromlist: Sequence[str] | None) -> _MissingTorch | None:
    """Give a placeholder for torch and its parts."""
    return _MissingTorch(name if fromlist else "torch") if name.partition(".")[0] == "torch" else None


def _later(name: str, fromlist: Sequence[str] | None) -> _DeferredModule | None:
    """Give, for what is imported `from` a deferred package, names that load at their first use."""
    deferred = any(name == root or name.startswith(f"{root}.") for root in DEFERRED)
    return _DeferredModule(name) if fromlist and deferred else None


import_without_torch = _importing(_placeholder)
import_deferred = _importing(_later)


class _MissingTorch:
    """Stands for torch, or anything of it, and says that torch is missing when it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _MissingTorch:
        if name.startswith("__"):
            raise AttributeError(f"{self._name} is a placeholder without {name}: torch is not installed")
        return _MissingTorch(f"{self._name}.{name}")

    def __repr__(self) -> str:
        return f"<{self._name}: torch is not installed>"

    def _fail(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise FrameworkUnavailableError(
            f"{self._name} needs torch, which is not installed: pip install torch "
            "(FINN uses it to execute its LayerNorm in Python; no other part of a build does)"
        )

    __call__ = __mro_entries__ = __getitem__ = __iter__ = __enter__ = _fail


class _DeferredModule:
    """Gives an import statement stand-ins for the names that it takes from a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _Deferred:
        if name.startswith("__"):
            raise AttributeError(f"module {self._name} is not loaded, so it has no {name} yet")
        return _Deferred(self._name, name)


class _Deferred:
    """Stands for a class, function or enumeration; the first use of it imports its module."""

    def __init__(self, module: str, name: str) -> None:
        self._reference = (module, name)

    def _load(self) -> Any:
        module, name = self._reference
        loaded = import_module(module)
        return getattr(loaded, name) if hasattr(loaded, name) else import_module(f"{module}.{name}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._load()(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._load()[key]

    def __iter__(self) -> Any:
        return iter(self._load())

    def __or__(self, other: Any) -> Any:
        return self._load() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._load()

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._load())

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self._load())

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[Any, ...]:
        return (self._load(),)

    def __repr__(self) -> str:
        return "<{}.{}, not loaded before it is used>".format(*self._reference)
