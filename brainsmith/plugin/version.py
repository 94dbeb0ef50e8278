"""Versions of the host and of bundles: three numbers, ordered, and ranges of them."""

from __future__ import annotations

from functools import total_ordering

import brainsmith
from brainsmith import TYPE_CHECKING
from brainsmith.errors import BundleDefinitionError
from brainsmith.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

DIGITS = 9
"""The most that a number of a version has."""

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda version, bound: version >= bound,
    "<=": lambda version, bound: version <= bound,
    "==": lambda version, bound: version == bound,
    "!=": lambda version, bound: version != bound,
    ">": lambda version, bound: version > bound,
    "<": lambda version, bound: version < bound,
}
"""What may stand before a version in a range; the longer signs first, since `>` begins `>=`."""


@total_ordering
class Version:
    """A version `major.minor.patch`: a frozen value, ordered number by number.

    Attributes:
        major: Grows when what worked before may not work any more.
        minor: Grows when something new can be used.
        patch: Grows when a defect is fixed.

    Raises:
        BundleDefinitionError: A part is not a whole number, is below 0, or has more than 9 digits.
    """

    __slots__ = ("major", "minor", "patch")

    major: int
    minor: int
    patch: int

    def __init__(self, major: int, minor: int, patch: int) -> None:
        for what, part in zip(self.__slots__, (major, minor, patch), strict=True):
            if not isinstance(part, int) or isinstance(part, bool) or part < 0:
                raise BundleDefinitionError(
                    f"{what} of a version must be a whole number, 0 or more, not {shown(part)}"
                )
            if part >= 10**DIGITS:
                raise BundleDefinitionError(
                    f"{what} of a version must have up to {DIGITS} digits, not {shown(part)}"
                )
            object.__setattr__(self, what, part)

    @classmethod
    def parse(cls, text: str) -> Version:
        """Return the version that a text `x.y.z` states.

        Raises:
            BundleDefinitionError: It is no such text; a number has no zeros in front.
        """
        numbers = text.split(".") if isinstance(text, str) else []
        if len(numbers) != 3 or not all(map(_is_number, numbers)):
            raise BundleDefinitionError(f"a version must be three numbers such as '1.0.0', not {shown(text)}")
        _check_digits(numbers, text)
        return cls(*map(int, numbers))

    @classmethod
    def current(cls) -> Version:
        """Return the version of this BrainSmith, the host of all bundles."""
        return cls.parse(brainsmith.__version__)

    @property
    def _parts(self) -> tuple[int, int, int]:
        return self.major, self.minor, self.patch

    def is_compatible_with(self, minimum: Version) -> bool:
        """Tell whether what needs a minimum works with this version: equal major, not older."""
        return self.major == minimum.major and self >= minimum

    def __str__(self) -> str:
        return ".".join(map(str, self._parts))

    def __repr__(self) -> str:
        return f"Version({', '.join(map(str, self._parts))})"

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts)

    def __lt__(self, other: Version) -> bool:
        return self._parts < other._parts if isinstance(other, Version) else NotImplemented

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"version {self} cannot be changed")

    def __reduce__(self) -> tuple[type[Version], tuple[int, int, int]]:
        return Version, self._parts


class VersionRange:
    """Which versions fit: `>=1.0`, `>=1.0, <2`, `==1.2.3`; an empty text means any.

    A version of one or two numbers is filled up with zeros: `<2` means below 2.0.0.

    Raises:
        BundleDefinitionError: The text is no such range.
    """

    __slots__ = ("_bounds",)

    def __init__(self, text: str = "") -> None:
        if not isinstance(text, str):
            raise _no_range(text)
        self._bounds = tuple(_bound(part.strip(), text) for part in text.split(",")) if text.strip() else ()

    def __contains__(self, version: Version) -> bool:
        return all(_COMPARISONS[sign](version, bound) for sign, bound in self._bounds)

    def __str__(self) -> str:
        return ", ".join(f"{sign}{bound}" for sign, bound in self._bounds)

    def __repr__(self) -> str:
        return f"VersionRange({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self._bounds == other._bounds if isinstance(other, VersionRange) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bounds)


def _bound(part: str, text: str) -> tuple[str, Version]:
    for sign in _COMPARISONS:
        if part.startswith(sign):
            numbers = part[len(sign) :].strip().split(".")
            if len(numbers) <= 3 and all(map(_is_number, numbers)):
                _check_digits(numbers, text)
                return sign, Version(*map(int, [*numbers, "0", "0"][:3]))
            break
    raise _no_range(text)


def _no_range(text: object) -> BundleDefinitionError:
    return BundleDefinitionError(
        f"a range of versions must be comparisons such as '>=1.0' or '>=1.0, <2', not {shown(text)}"
    )


def _check_digits(numbers: list[str], text: str) -> None:
    if any(len(number) > DIGITS for number in numbers):
        raise BundleDefinitionError(
            f"the numbers of a version must have up to {DIGITS} digits, not {shown(text)}"
        )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
