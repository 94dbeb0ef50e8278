"""What is kept on disk, by kind: its name for users, and where it lies in the cache folder."""

from __future__ import annotations

from brainsmith.structs import Struct


class Kind(Struct):
    """One kind of entry.

    Attributes:
        name: What the user calls it.
        folder: Where it lies in the cache folder.
        holds: What its entries are.
        in_folders: Whether an entry is a folder (`folders`), not a file (`values`).
        is_shared: Whether machines may share its entries: they hold no path of one machine, and nothing that is run.
    """

    name: str
    folder: str
    holds: str
    in_folders: bool = False
    is_shared: bool = False

    @property
    def limit(self) -> int:
        """The bytes that are kept of it."""
        from brainsmith.store.quota import quota_of  # not for each command, which knows the names of kinds

        return quota_of(self.folder.removesuffix("/entries").rpartition("/")[2])


KINDS = (
    Kind("builds", "builds/entries", "results of the steps of builds", in_folders=True, is_shared=True),
    Kind("steps", "builds/latest", "what each step was last made of, for --explain"),
    Kind("simulations", "rtl", "compiled simulations", in_folders=True),
    Kind("timings", "timings", "when layers take and give beats, to size FIFOs"),
    Kind("synthesis", "synthesis", "what Yosys and nextpnr gave", in_folders=True),
    Kind("hls", "hls", "compiled HLS C++", in_folders=True),
    Kind("ops", "ops", "compiled ops", in_folders=True),
    Kind("programs", "programs", "models as programs, of the target numpy"),
    Kind("models", "onnxruntime", "models as standard ONNX, of the target onnxruntime"),
    Kind("inputs", "inputs", "inputs that builds generate"),
    Kind("results", "results", "what models gave for the inputs of verification"),
    Kind("facts", "facts", "what verification knows of the floats of models"),
    Kind("comparisons", "comparisons", "comparisons of targets in reports"),
    Kind("waves", "waves", "pictures of handshakes in reports"),
    Kind("discovery", "discovery", "which plugins there are", is_shared=True),
    Kind("definitions", "definitions", "what each plugin's file defines"),
    Kind("details", "details", "parameters and docstrings of plugins"),
    Kind("blueprints", "blueprints", "blueprints as they were read"),
    Kind("settings", "settings", "settings files as they were read"),
    Kind("sources", "sources", "which modules code imports"),
    Kind("environment", "environment", "digests of frameworks, and versions of tools"),
    Kind("health", "health", "packages that were seen to work"),
)

SHARED = tuple(kind.name for kind in KINDS if kind.is_shared)
"""The names of the kinds that machines may share: builds, which need a discovery, before it."""


def kind_of(name: str) -> Kind:
    """Return the kind of a name.

    Raises:
        LookupError: There is none.
    """
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise LookupError(name)
