"""What a verb takes, and reading it from a command line.

Not argparse: importing that alone costs as much as all the rest of `brainsmith plugins list`. Where the shell asks for
completions, the same tables become an argparse parser (`completion`).
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import UsageError
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    T = TypeVar("T")


HELP = "help"
"""The verb that prints what another one takes, as `--help` after it does."""

_DIGITS = 19
_TINY = 5e-324
"""The least float above 0."""

_COMPLETES = {
    "DIR": "folders",
    "F": "files",
    "FILE": "files",
    "FRAMEWORK": "frameworks",
    "MODEL": "files",
    "PATH": "files",
    "STAGE": "stages",
}
"""What the shell offers for a value that help names so; for a file's name, such as X.npy, files."""

QUIET, VERBOSE, LOG_FILE, LOG_JSON = "--quiet", "--verbose", "--log-file", "--log-json"
TRUST_MODEL = "--trust-model"
"""The options that state how much is printed, and where."""


class Argument(Struct):
    """One thing that a verb takes.

    Attributes:
        name: `--type` for an option; `NAME` for what is given by its place.
        value: How help names an option's value; empty for a switch.
        about: One line of help; it lists the choices.
        choices: The values that it may have; empty for any.
        completes: What the shell offers: `plugins`, `frameworks`, `stages`, `files`, `folders`, or nothing; by default
            what the name of its value says.
        required: Whether it must be given: what has a place, unless it says otherwise, and some options.
        many: Whether it may be given several times.
        default: The value of an option that is given without one; empty where it needs one.
    """

    name: str
    value: str = ""
    about: str = ""
    choices: tuple[str, ...] = ()
    completes: str = ""
    required: bool | None = None
    many: bool = False
    default: str = ""

    def __post_init__(self) -> None:
        if self.many:
            self.about = f"{self.about}; may be given several times"
        if self.choices:
            self.about = f"{self.about}: {', '.join(self.choices)}"
        self.completes = self.completes or _completes(self.value or self.name)
        if self.required is None:
            self.required = not self.is_option

    @property
    def is_option(self) -> bool:
        """Whether it is given by name."""
        return self.name.startswith("-")

    @property
    def label(self) -> str:
        """How help writes it."""
        value = f"[{self.value}]" if self.default else self.value
        return f"{self.name} {value}" if value else self.name


def _completes(value: str) -> str:
    stem, _, suffix = value.rpartition(".")
    return "files" if stem and suffix.isalnum() else _COMPLETES.get(value, "")


JSON = Argument("--json", about="print one JSON document, for programs")
"""What verbs take that give what they found to programs, too."""


class Verb:
    """One verb of the command line.

    Attributes:
        words: What the user types after `brainsmith`: `("plugins", "list")`.
        command: The whole command, without its arguments.
        about: One line of help.
        more: What help says below that.
        arguments: What it takes.
        example: One command that works.
    """

    def __init__(self, words: str, about: str, more: str, example: str, *arguments: Argument) -> None:
        self.words = tuple(words.split())
        self.command = f"brainsmith {words}"
        self.about = about
        self.more = more
        self.example = example
        self.arguments = arguments

    @property
    def module(self) -> str:
        """The module with its `run(options, terminal) -> int`, which is called as the verb."""
        return f"brainsmith.cli.{'_'.join(self.words).replace('-', '_')}"

    @property
    def parts(self) -> list[str]:
        """Its arguments as usage shows them; what may be left out is in brackets."""
        return [argument.label if argument.required else f"[{argument.label}]" for argument in self.arguments]

    @property
    def usage(self) -> str:
        """The command with its arguments."""
        return " ".join((self.command, *self.parts))


class Options:
    """What the user gave."""

    __slots__ = ("_flags", "_many", "_texts")

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._many: dict[str, list[str]] = {}
        self._flags: set[str] = set()

    def text(self, name: str) -> str | None:
        """Return the value of an option, the last one of several; None if it was not given."""
        return self._texts.get(name)

    def texts(self, name: str) -> list[str]:
        """Return the values of an option that may be given several times."""
        return self._many.get(name, [])

    def required(self, name: str) -> str:
        """Return the value of what must be given."""
        return self._texts[name]

    def whole(self, name: str, default: T, least: int = 0, most: int | None = None) -> int | T:
        """Return the value of an option that is a whole number.

        Raises:
            UsageError: It is another text, or too small or large.
        """
        text = self._texts.get(name)
        if text is None:
            return default
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < _DIGITS else -1
        if number < least or (most is not None and number > most):
            limit = f", {least} or more" if most is None else f" up to {most}"
            raise UsageError(f"{name} must be a whole number{limit}, not {text!r}")
        return number

    def number(
        self, name: str, default: float, wanted: str = "a number above 0", least: float = _TINY
    ) -> float:
        """Return the value of an option that is a number.

        Raises:
            UsageError: It is another text, or not finite, or below `least`; `wanted` says what it must be.
        """
        text = self._texts.get(name)
        if text is None:
            return default
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not least <= number < float("inf"):
            raise UsageError(f"{name} must be {wanted}, not {text!r}")
        return number

    def flag(self, name: str) -> bool:
        """Return whether a switch was given."""
        return name in self._flags

    @property
    def says_how_much(self) -> bool:
        """Whether an option was given that states how much is printed."""
        return not {QUIET, VERBOSE}.isdisjoint(self._flags) or not {LOG_FILE, LOG_JSON}.isdisjoint(
            self._texts
        )

    def to_plain(self) -> dict[str, list[str]]:
        """Return what was given, by name: values, or an empty list for a switch."""
        return {**{name: [] for name in sorted(self._flags)}, **self._many}

    def over(self, plain: Mapping[str, list[str]]) -> Options:
        """Return these options, and of those that were given before, as `to_plain` returned them, what these leave open."""
        both = Options()
        for name, values in {**plain, **self.to_plain()}.items():
            if values:
                both._texts[name], both._many[name] = values[-1], [*values]
            else:
                both._flags.add(name)
        return both

    def set(self, argument: Argument, value: str | None) -> None:
        """Note a value, or a switch (None)."""
        if value is None:
            self._flags.add(argument.name)
        else:
            self._texts[argument.name] = value
            self._many.setdefault(argument.name, []).append(value)


def parse(verb: Verb, words: list[str]) -> Options:
    """Read what stands after a verb.

    Raises:
        UsageError: An option is unknown, lacks its value, or has a wrong one; or an argument is
            missing or unexpected.
    """
    options = Options()
    named = {argument.name: argument for argument in verb.arguments if argument.is_option}
    placed = [argument for argument in verb.arguments if not argument.is_option]
    waiting = list(placed)
    rest = [*words]
    only_placed = False
    while rest:
        word = rest.pop(0)
        if word == "--" and not only_placed:
            only_placed = True
        elif word.startswith("-") and len(word) > 1 and not only_placed:
            _read_option(verb, named, word, rest, options)
        elif waiting:
            argument = waiting.pop(0)
            options.set(argument, _checked(verb, argument, word))
        else:
            raise UsageError(
                f"{verb.command} takes {_count(placed)}; unexpected argument {word!r}{_see(verb)}"
            )
    for argument in verb.arguments:
        if argument.required and options.text(argument.name) is None:
            raise UsageError(f"{verb.command} needs {argument.label}: {argument.about}{_see(verb)}")
    return options


def _read_option(
    verb: Verb, named: dict[str, Argument], word: str, rest: list[str], options: Options
) -> None:
    name, equals, value = word.partition("=")
    argument = named.get(name)
    if argument is None:
        raise UsageError(f"{verb.command} has no option {name!r}{did_you_mean(name, named)}{_see(verb)}")
    if not argument.value:
        if equals:
            raise UsageError(f"{name} takes no value; found {value!r}{_see(verb)}")
        options.set(argument, None)
        return
    if argument.default and not equals and (not rest or rest[0].startswith("-")):
        options.set(argument, argument.default)
        return
    given = value if equals else rest.pop(0) if rest else None
    if given is None or (not equals and given in named):
        choices = f": {_or(argument.choices)}" if argument.choices else ""
        raise UsageError(f"{name} needs a value, {argument.value}{choices}{_see(verb)}")
    options.set(argument, _checked(verb, argument, given))


def _checked(verb: Verb, argument: Argument, value: str) -> str:
    if not value:  # an unset variable of the shell's; as a path it would be the current folder
        raise UsageError(f"{argument.name} must not be empty{_see(verb)}")
    if argument.choices and value not in argument.choices:
        hint = did_you_mean(value, argument.choices)
        raise UsageError(f"{argument.name} must be {_or(argument.choices)}, not {value!r}{hint}{_see(verb)}")
    return value


def _or(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _count(placed: list[Argument]) -> str:
    return f"only {' and '.join(argument.name for argument in placed)}" if placed else "options only"


def _see(verb: Verb) -> str:
    return f"\n  {verb.command} --help shows its options"
