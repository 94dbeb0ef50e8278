"""The verbs that make pages of all plugins, and of builds."""

from __future__ import annotations

from brainsmith.cli.command_line import JSON, Argument, Verb

CATALOGUE = Verb(
    "catalogue",
    "write a web site of all plugins",
    "Static pages: search, filters, a page for each plugin, which kernels have which backends, and what changed since"
    " the catalogue that DIR holds. No plugin is imported, and the pages need no network.",
    "brainsmith catalogue --output site",
    Argument("--output", "DIR", "the folder for it; site by default"),
    Argument(
        "--source",
        "FRAMEWORK=URL",
        "where sources are published, with {path}, {line} and {version} in the URL",
        many=True,
    ),
    JSON,
)

DASHBOARD = Verb(
    "dashboard",
    "show the builds of a folder on a local page",
    "Lists builds in DIR and below it: those that run, live, and those that ended, which can be compared side by side."
    " Serves this machine alone, to whoever has the address, which holds a token. It changes nothing.",
    "brainsmith dashboard out",
    Argument("DIR", about="a folder with builds in it or below it"),
    Argument("--port", "P", "its port; 8764 by default, 0 picks a free one"),
)
