"""Questions about a source file, whose plain answers depend on nothing but its text and its module's name.

So an answer stays true as long as the file's content does: the next discovery reads only the files that changed. A
question that a file does not survive (its expressions are nested too deeply, say) is that file's problem alone.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypedDict

    Key = tuple[Any, ...]
    """A question's name and its arguments."""

    class Answers(TypedDict):
        """What has been asked of one content of a file: plain values, which are written to disk as they are.

        Attributes:
            digest: Stands for the content.
            given: The answers by question.
            problems: What made a question fail, in plain form.
        """

        digest: bytes
        given: dict[Key, Any]
        problems: list[tuple[str, int, int, str]]


QUESTIONS: dict[str, tuple[Callable[..., Any], Any]] = {}
"""By name: the function that answers, given the source and the arguments, and the answer where it fails."""

PLACES: set[str] = set()
"""The questions whose answers are lines: they change with what else is in the file."""


def question(nothing: Any, *, place: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function a question: `source.ask("its_name", ...)` calls it once for each content and arguments.

    Args:
        nothing: The answer for a file that cannot be read.
        place: Whether the answer is about where something stands, and not about what it is.
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        QUESTIONS[function.__name__] = (function, nothing)
        if place:
            PLACES.add(function.__name__)
        return function

    return enter
