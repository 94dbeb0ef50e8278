"""The record: what is known of a plugin before anything of it is imported."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar

    from brainsmith.plugin.details import Parameter


class PluginType:
    """The kinds of plugins, as the strings that stand in records, keys and blueprints."""

    TRANSFORM = "transform"
    KERNEL = "kernel"
    BACKEND = "backend"
    STEP = "step"
    OP = "op"
    TARGET = "target"
    BUNDLE = "bundle"


class Priority:
    """Priorities, from a plugin that is used only where there is no other to one that is always preferred."""

    LOWEST = 0
    LOW = 25
    NORMAL = 50
    HIGH = 75
    HIGHEST = 100


PLUGIN_TYPES = ("transform", "kernel", "backend", "step", "op", "target", "bundle")
"""Every plugin type, in the order in which lists show them."""

BACKEND_TYPES = ("hls", "rtl")
"""What a backend can be written in."""

FINN_RTL = "finn.custom_op.fpgadataflow.rtl"
"""Where FINN's own passes look for RTL layers."""

EXTRA_FIELDS = ("display_name", "vendor", "license")
"""What a record is given as if it were a field, and holds in `extra`: what a target states about itself for people."""

_LISTS = ("requires", "requires_plugins", "device_types", "tags")


class PluginInfo:
    """One plugin's metadata: a frozen value, the same for every kind.

    It reads as attributes and as a mapping: `info["stage"]`, `dict(info)`. `info["class"]` imports the plugin and
    returns the object; iterating never does. Names that are not fields are looked up in `extra`.

    Attributes:
        name: What users type; unique within type and framework.
        type: One of `PLUGIN_TYPES`.
        framework: `brainsmith`, `qonnx`, `finn`, `project`, or a name: an installed distribution's, another environment's.
        reference: `module:qualname` of the object; in another environment `environment@module:qualname`.
        version: The plugin's own version; empty if it states none.
        description: One line.
        author: Who wrote it.
        requires: PEP 508 requirements.
        requires_plugins: Other plugins that it needs: `kernel:acme:MatMul >=2`; without a type, one of its own type.
        min_brainsmith: The oldest host version it works with; empty for any.
        max_brainsmith: The newest one; empty for any.
        priority: Between distributions that offer the same name, the higher one wins; 50 is normal.
        stage: Of a transform: when it runs (any snake_case name).
        kernel: Of a backend: the kernel that it implements. Of a transform: the kernel that it infers.
        backend_type: Of a backend: `hls` or `rtl`.
        device_types: Of a target: the devices that it serves.
        tags: Free words for searching.
        origin: `file:line`, or the distribution and entry point.
        extra: What only one framework or type knows: the domain of an operator, a target's `display_name` and `vendor`,
            which may be given as if they were fields.
    """

    __slots__ = ("_values",)

    _values: tuple[Any, ...]
    name: str = ""
    type: str = ""
    framework: str = ""
    reference: str = ""
    version: str = ""
    description: str = ""
    author: str = ""
    requires: tuple[str, ...] = ()
    requires_plugins: tuple[str, ...] = ()
    min_brainsmith: str = ""
    max_brainsmith: str = ""
    priority: int = Priority.NORMAL
    stage: str | None = None
    kernel: str | None = None
    backend_type: str | None = None
    device_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""
    extra: dict[str, Any] = {}  # noqa: RUF012  (each record has one of its own)
    loader: ClassVar[Callable[[PluginInfo], Any]]
    """What `load` calls: the package sets it, and a record knows of no registry."""

    def __init__(self, **fields: Any) -> None:
        own = {name: fields.pop(name) for name in EXTRA_FIELDS if name in fields}
        unknown = [name for name in fields if name not in FIELDS]
        if unknown:
            known = ", ".join((*FIELDS, *EXTRA_FIELDS))
            raise TypeError(f"a plugin record has no field {unknown[0]!r}; it has {known}")
        for name in _LISTS:
            if isinstance(fields.get(name), list):
                fields[name] = tuple(fields[name])
        values = [fields.get(field, default) for field, default in _DEFAULTS.items()]
        values[-1] = {**values[-1], **own}
        _SET_VALUES(self, tuple(values))

    @classmethod
    def from_plain(cls, values: tuple[Any, ...]) -> PluginInfo:
        """Make a record of its plain form (`to_plain`)."""
        info = object.__new__(cls)
        _SET_VALUES(info, values)
        return info

    def to_plain(self) -> tuple[Any, ...]:
        """Return the values in the order of `FIELDS`: strings, numbers, tuples and one dict."""
        return self._values

    def replace(self, **changes: Any) -> PluginInfo:
        """Return a copy with some fields changed."""
        return PluginInfo(**{**dict(zip(FIELDS, self.to_plain(), strict=True)), **changes})

    @property
    def key(self) -> str:
        """`type:Name`, the key in the registry."""
        return f"{self.type}:{self.name}"

    @property
    def qualified(self) -> str:
        """`framework:Name`, a name that is never ambiguous."""
        return f"{self.framework}:{self.name}"

    @property
    def module(self) -> str:
        """The module that defines the object."""
        return self.reference.partition(":")[0]

    @property
    def import_name(self) -> str:
        """The module's name in the Python that imports it: of another environment's plugin (`acme@acme.norms`) its own."""
        return self.module.rpartition("@")[2]

    @property
    def file(self) -> str:
        """The path of the source file; empty where it is not known."""
        path, colon, line = self.origin.rpartition(":")
        return path if colon and line.isdigit() else ""

    @property
    def line(self) -> int:
        """The 1-based line of the definition (of its decorator, if it has one); 0 where it is not known."""
        line = self.origin.rpartition(":")[2]
        return int(line) if line.isdigit() else 0

    def load(self) -> Any:
        """Import the plugin and return the real object.

        Raises:
            PluginLoadError: The import failed; the plugin's own error is shown.
        """
        return PluginInfo.loader(self)

    @property
    def license(self) -> str:
        """The licence that the plugin states, or else that of the distribution it comes from; empty if none is stated."""
        from brainsmith.plugin.licence import licence_of  # reads metadata of distributions

        return licence_of(self)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the constructor or function, read from the source, without `self`."""
        from brainsmith.plugin.details import details_of  # parses

        return details_of(self).parameters

    @property
    def docstring(self) -> str:
        """The docstring, read from the source."""
        from brainsmith.plugin.details import details_of  # parses

        return details_of(self).docstring

    def __getitem__(self, name: str) -> Any:
        if name == "class":
            return self.load()
        if name in FIELDS or name == "license":
            return getattr(self, name)
        try:
            return self.extra[name]
        except KeyError:
            raise KeyError(f"the record of {self.key!r} has no {name!r}") from None

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self.extra:
            return self.extra[name]
        raise AttributeError(f"the record of {self.key!r} has no attribute {name!r}")

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field or of an entry of `extra`, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> tuple[str, ...]:
        """Return the names of the fields that are set and of the entries of `extra`."""
        return tuple(self)

    def __iter__(self) -> Iterator[str]:
        for field, default in _DEFAULTS.items():
            if field != "extra" and getattr(self, field) != default:
                yield field
        yield from self.extra

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name == "class" or name in FIELDS or name in self.extra

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"the record of {self.key!r} cannot be changed; make another with .replace({name}=...)"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the record of {self.key!r} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PluginInfo) and self.to_plain() == other.to_plain()

    def __hash__(self) -> int:
        return hash((self.type, self.framework, self.name, self.reference))

    def __reduce__(self) -> tuple[Any, ...]:
        return PluginInfo.from_plain, (self.to_plain(),)

    def __repr__(self) -> str:
        return f"<{self.type} {self.qualified} {self.reference}>"

    def _repr_html_(self) -> str:
        from brainsmith.plugin.pages import record_page  # only a notebook shows it

        return record_page(self)


class _Field:
    """Reads one value of a record. A cached discovery makes hundreds of records; this makes each of one tuple."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, info: PluginInfo | None, owner: type) -> Any:
        return self if info is None else info._values[self.index]


_SET_VALUES = PluginInfo.__dict__["_values"].__set__
_DEFAULTS = {
    name: vars(PluginInfo)[name]
    for name in PluginInfo.__annotations__
    if name != "_values" and name in vars(PluginInfo)
}
"""What a record has where nothing is stated, by field."""

FIELDS = tuple(_DEFAULTS)
"""The fields of a record, in the order of its plain form."""

for _index, _name in enumerate(FIELDS):
    setattr(PluginInfo, _name, _Field(_index))
