"""The verbs of projects and plugins: what each is called, takes and does."""

from __future__ import annotations

from brainsmith.cli.command_line import JSON, Argument, Verb
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.scaffold import KINDS

_TYPE = Argument("--type", "TYPE", "only plugins of this type", choices=PLUGIN_TYPES)

PLUGIN_VERBS = (
    Verb(
        "init",
        "make a folder a project",
        "Writes .brainsmith/config.yaml, plugins/, a blueprint and its schema for editors, and says what to do next."
        " Nothing is overwritten.",
        "brainsmith init my_project",
        Argument(
            "DIR", about="the folder, which is made if it is missing; this one by default", required=False
        ),
    ),
    Verb(
        "new",
        "begin a plugin, with a test that passes, or a package",
        "A plugin and its test go into plugins/ and tests/ of the project, the nearest folder upwards with .brainsmith/."
        " A backend gets a core, too, and its kernel if the project has none. A package is a folder that pip installs."
        " Nothing is overwritten.",
        "brainsmith new transform RemoveIdentity",
        Argument("KIND", about="what to begin", choices=KINDS),
        Argument("NAME", about="its name; files are called after it"),
    ),
    Verb(
        "plugins list",
        "list the available plugins",
        "On a terminal: aligned columns. Into a pipe: one plugin a line, six columns between tabs (type, framework,"
        " name, stage, kernel, description), no heading.",
        "brainsmith plugins list --type transform --framework brainsmith",
        _TYPE,
        Argument("--framework", "FRAMEWORK", "only plugins of this framework"),
        Argument("--stage", "STAGE", "only transforms that state this stage"),
        JSON,
    ),
    Verb(
        "plugins show",
        "show all that is known of a plugin",
        "Nothing is imported: parameters and docstring are read from the source. A name that several types or"
        " frameworks have shows them all.",
        "brainsmith plugins show finn:Streamline",
        Argument("NAME", about="a plugin's name, bare or framework:Name", completes="plugins"),
        _TYPE,
    ),
    Verb(
        "plugins check",
        "check plugin files before they are used",
        "Reads every decorated plugin in a file or folder, says what is wrong with it and what would be registered."
        " Nothing is imported without --load.",
        "brainsmith plugins check plugins/my_pass.py --load",
        Argument("PATH", about="a Python file, or a folder of them"),
        Argument("--load", about="import the plugins too, and say which fail"),
    ),
    Verb(
        "plugins stubs",
        "write type stubs, so that editors complete plugin names",
        "Pyright and Pylance read the folder typings/ as it is; mypy needs mypy_path = typings.",
        "brainsmith plugins stubs",
        Argument("--output", "DIR", "the folder for them; typings by default"),
    ),
    Verb(
        "plugins support",
        "list which operators plugins support, and how",
        "From the registry, your own plugins included: each operator, the kernel that it becomes, the transform that does"
        " it, and the backends in RTL. With --limits, for which reasons backends refuse nodes.",
        "brainsmith plugins support",
        Argument("--limits", about="list the backends, and what each refuses"),
        JSON,
    ),
)
"""In the order of the help."""
