"""The verbs of `brainsmith cache`."""

from __future__ import annotations

from brainsmith.cli.command_line import JSON, Argument, Verb
from brainsmith.store.kinds import KINDS, SHARED

_KIND = Argument("KIND", about="a kind of entry", choices=tuple(kind.name for kind in KINDS), required=False)
_SHARED_KIND = Argument(
    "KIND", about="a kind of entry that machines may share", choices=SHARED, required=False
)
_DRY_RUN = Argument("--dry-run", about="say what would be removed, and remove nothing")

CACHE_VERBS = (
    Verb(
        "cache list",
        "list what is kept on disk",
        "Without KIND: each kind, how many entries it has, their size, and how much is kept at most. With KIND: its"
        " entries, the one that was used last first.",
        "brainsmith cache list builds",
        _KIND,
        JSON,
    ),
    Verb(
        "cache show",
        "show what is known of one kept entry",
        "What it was made from, by which build, its key, and whether it is still valid. Exit code 1 if no entry, or"
        " more than one, has the key.",
        "brainsmith cache show builds/3f9c",
        Argument("KEY", about="the first digits of its key; KIND/ may precede it"),
        JSON,
    ),
    Verb(
        "cache why",
        "list the entries that were computed from a file",
        "And whether the file is as it was then. FILE is a source, a model, a blueprint, golden data, or a plugin.",
        "brainsmith cache why examples/digits/mlp.onnx",
        Argument("FILE", about="a file, which need not exist any more"),
        JSON,
    ),
    Verb(
        "cache push",
        "copy entries to the cache that machines share",
        "Of the kinds that machines may share (builds, discovery), or of one. What is there already stays. Exit code 1 if"
        " the shared cache cannot be used.",
        "brainsmith cache push builds",
        _SHARED_KIND,
        JSON,
    ),
    Verb(
        "cache pull",
        "copy entries from the cache that machines share",
        "All that hold here: builds with these plugins and frameworks, and the discovery of these files. Builds also take"
        " from there what they need, one by one. Exit code 1 if the shared cache cannot be used.",
        "brainsmith cache pull",
        _SHARED_KIND,
        JSON,
    ),
    Verb(
        "cache prune",
        "remove the entries that were used longest ago",
        "Without options, each kind is trimmed to its maximum size. What a running process uses stays.",
        "brainsmith cache prune --keep 5GB",
        Argument("--keep", "SIZE", "keep at most this much, of all kinds together: 5GB, 500MiB"),
        Argument("--older-than", "AGE", "first remove what was not used for this long, such as 30d or 12h"),
        _DRY_RUN,
        JSON,
    ),
    Verb(
        "cache clear",
        "remove all entries, or those of one kind",
        "Costs time and changes no result. What a running process uses stays, and is named.",
        "brainsmith cache clear discovery",
        _KIND,
        _DRY_RUN,
        JSON,
    ),
)
"""In the order of the help."""
