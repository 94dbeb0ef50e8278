"""OncePerModel: what is made of a model, made once while the model does not change."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    T = TypeVar("T")


class OncePerModel:
    """Makes something of a model, and while models stay as they are, gives the same again.

    with once.unchanged():
        once(Executor, model, None) is once(Executor, model, None)
    """

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] | None = None

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Keep what is made meanwhile, up to the end."""
        self._made = {}
        try:
            yield
        finally:
            self._made = None

    def __call__(self, make: Callable[..., T], *models: Any) -> T:
        """Return what `make` gives for some models; what was given for the same ones, if nothing has changed since."""
        if self._made is None:
            return make(*models)
        key = (make, *map(id, models))
        if key not in self._made:
            self._made[key] = models, make(*models)  # models that are held keep their ids
        found: T = self._made[key][1]
        return found
