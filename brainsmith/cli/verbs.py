"""The verbs of the command line: what each is called, takes and does. Help, parsing, completion and docs follow from it."""

from __future__ import annotations

from brainsmith.blueprint.outputs import OUTPUTS
from brainsmith.cli.cache_verbs import CACHE_VERBS
from brainsmith.cli.command_line import JSON, LOG_FILE, LOG_JSON, QUIET, TRUST_MODEL, VERBOSE, Argument, Verb
from brainsmith.cli.page_verbs import CATALOGUE, DASHBOARD
from brainsmith.cli.plugin_verbs import PLUGIN_VERBS
from brainsmith.exploration.vocabulary import MODELS, STRATEGIES

SHELLS = ("bash", "zsh", "fish")
"""The shells that completion serves."""

_HOW_MUCH = (
    Argument(QUIET, about="print warnings and errors only"),
    Argument(VERBOSE, about="print the log, too: the messages of steps, and where an error comes from"),
    Argument(LOG_FILE, "FILE", "write all that is printed and logged to a file"),
    Argument(LOG_JSON, "FILE", "write it as JSON, one object a line, for programs"),
    JSON,
)
_BLUEPRINT = Argument(
    "--blueprint", "FILE", "what to build, and with which plugins; later ones go over earlier ones", many=True
)
_SET = Argument(
    "--set",
    "KEY=VALUE",
    "a variable of the blueprint, or a key such as target.fps, in place of its own",
    many=True,
)
_INPUT = "its input, or an .npz file of several by name"
_MODEL = Argument("MODEL", about="an ONNX model, or a build's folder")
_TRUST_MODEL = Argument(
    TRUST_MODEL, about="open a model that runs code: Python in its annotations, modules of its nodes"
)
_CIRCUIT = (
    Argument("--blueprint", "FILE", "build the model with it first, for a target that runs builds"),
    Argument("--build", "DIR", "a build of the model, for a target that runs builds, such as rtlsim"),
)
_WHAT = (
    Argument("--produce", "OUTPUT", "how far to build; overrides the blueprint", choices=OUTPUTS),
    Argument("--part", "PART", "the device, or a board such as pynq-z2, in place of the blueprint's"),
    Argument(
        "--input-datatype", "TYPE", "which integers the input is made of: UINT8, or image=UINT8,mask=INT4"
    ),
    Argument("--verify-inputs", "X.npy", "golden inputs, in place of the blueprint's"),
    Argument("--verify-labels", "Y.npy", "the correct class of each golden input"),
    Argument("--verify-expected", "Z.npy", "the correct output of each golden input"),
)
_PACKAGE = Argument("DIR", about="a build's folder, or an accelerator's own")

VERBS = (
    *PLUGIN_VERBS,
    CATALOGUE,
    Verb(
        "blueprint check",
        "check a blueprint and show what it selects",
        "Prints the plan with all names resolved, or every error with file:line:column.",
        "brainsmith blueprint check blueprints/digits_mlp.yaml",
        Argument("FILE", about="a blueprint"),
        _SET,
        Argument("--load", about="import every plugin that it names, too"),
        *_HOW_MUCH,
    ),
    Verb(
        "blueprint show",
        "print a blueprint as one file, with the origin of values",
        "What it extends is merged, variables are replaced, and changes to the order of steps are made. The output is a"
        " blueprint.",
        "brainsmith blueprint show blueprints/digits_mlp.yaml --set target.fps=50000",
        Argument("FILE", about="a blueprint"),
        _SET,
        JSON,
    ),
    Verb(
        "blueprint schema",
        "print the JSON Schema of blueprints, for editors",
        "An editor that reads YAML completes and checks a blueprint whose first line names the schema's file:"
        " # yaml-language-server: $schema=blueprint.schema.json",
        "brainsmith blueprint schema",
    ),
    Verb(
        "build",
        "build hardware from a model and a blueprint",
        "Writes the last model, a checkpoint after each step, estimates, report.json and report.html. The folder is"
        " replaced only when the build has succeeded.",
        "brainsmith build examples/digits/mlp.onnx --blueprint blueprints/digits_mlp.yaml --output build/mlp",
        Argument("MODEL", about="a quantised ONNX model"),
        _BLUEPRINT,
        _SET,
        Argument("--output", "DIR", "the folder for the output; with --fit out/NAME by default"),
        Argument(
            "--fit",
            "PART",
            "a device, or a board such as pynq-z2: the foldings that are best within 80 % of it",
        ),
        *_WHAT,
        Argument("--strict", about="exit code 3 unless all is proven; the output is written anyway"),
        Argument("--locked", about="refuse all that differs from the blueprint's lock, before anything runs"),
        Argument("--no-verify", about="do not check the model after each step"),
        Argument("--no-report", about="do not write report.html; saves one simulation of a circuit"),
        Argument("--no-cache", about="run every step, and keep nothing for later builds"),
        Argument("--explain", about="report for each step why it was or was not reused"),
        _TRUST_MODEL,
        *_HOW_MUCH,
    ),
    Verb(
        "watch",
        "build, and build again whenever something is saved",
        "Waits for changes of the model, the blueprint with all that it extends, golden data, plugins, and what steps read."
        " What is saved during a build is taken up after it. A plugin whose file breaks is stale: builds refuse it until it"
        " is mended. Ctrl-C ends.",
        "brainsmith watch blueprints/digits_mlp.yaml examples/digits/mlp.onnx",
        Argument("BLUEPRINT", about="what to build, and with which plugins"),
        Argument("MODEL", about="a quantised ONNX model"),
        _SET,
        Argument("--output", "DIR", "the folder for the output; out/MODEL by default"),
        *_WHAT,
        Argument("--strict", about="report a build that is not proven in full as an error"),
        Argument("--no-verify", about="do not check the model after each step"),
        Argument("--no-report", about="do not write report.html; saves one simulation of a circuit"),
        _TRUST_MODEL,
        *_HOW_MUCH[:-1],
    ),
    Verb(
        "diff",
        "say what differs between two builds",
        "From the model and the blueprint to layers, figures and how far they are verified, by the reports of both; of"
        " numbers also by how much.",
        "brainsmith diff out/before out/after",
        Argument("DIR1", about="a build's folder"),
        Argument("DIR2", about="another build's folder"),
        JSON,
    ),
    Verb(
        "verify",
        "say whether a build's folder is as the build made it",
        "By provenance.json, which builds write: the SHA-256 of each file, and of all that the build was made of. The"
        " exit code is 1 if a file is changed or missing; files that the build did not make are named.",
        "brainsmith verify out/digits_mlp",
        Argument("DIR", about="a build's folder, or a folder in it, such as accelerator, wherever it is now"),
        Argument("--provenance", "FILE", "the build's statement, where it does not lie in DIR or above it"),
        JSON,
    ),
    Verb(
        "sbom",
        "print the bill of materials of a build",
        "CycloneDX 1.6 as JSON, made of the build's provenance: model, blueprints, plugins, packages with licences, tools,"
        " and the files that were made, with their SHA-256.",
        "brainsmith sbom out/digits_mlp --output bill.json",
        Argument("DIR", about="a build's folder, or one of the folders in it"),
        Argument("--provenance", "FILE", "the statement; that of DIR or of the folder above by default"),
        Argument("--output", "FILE", "the file to write; printed by default"),
    ),
    Verb(
        "lock",
        "write down what builds of a blueprint use, or compare",
        "The lock lies beside the blueprint (b.yaml, b.lock): each plugin with version, distribution and a digest of its"
        " file, all plugin files of the project and of packages, packages, tools. `build --locked` refuses what differs.",
        "brainsmith lock blueprints/digits_mlp.yaml",
        Argument("FILE", about="a blueprint"),
        _SET,
        Argument("--check", about="write nothing; exit code 1 if anything differs"),
        Argument("--upgrade", "NAME", "take over this plugin, file, package or tool alone", many=True),
        JSON,
    ),
    DASHBOARD,
    Verb(
        "plan",
        "say what a design space holds, and what its points share",
        "Prints what the blueprint leaves open, how many points there are, how often each step would run, and the tree of"
        " shared prefixes. All alternatives are checked. Nothing is built.",
        "brainsmith plan examples/explore/space.yaml",
        Argument("FILE", about="a blueprint with choices"),
        _SET,
        JSON,
    ),
    Verb(
        "explore",
        "build the points of a design space, and show the best",
        "Points that are known in DIR are not built again, so an exploration that was stopped goes on. Points share what"
        " they have in common through the build cache. The blueprint's objectives say what is best. --resume takes from DIR"
        " how it was asked last, so that nothing else needs to be given.",
        "brainsmith explore --blueprint examples/explore/space.yaml --output out/explore --jobs 2",
        Argument("MODEL", about="a quantised ONNX model, unless the blueprint names it", required=False),
        Argument(
            "--blueprint",
            "FILE",
            "a blueprint with choices; later ones go over earlier ones",
            many=True,
        ),
        Argument("--output", "DIR", "the folder for the journal, the builds and the tables", required=True),
        _SET,
        Argument(
            "--produce",
            "FIDELITY",
            "how far the best are built; estimates by default",
            choices=(MODELS, *OUTPUTS),
        ),
        Argument("--strategy", "WAY", "which points are tried; grid by default", choices=STRATEGIES),
        Argument("--budget", "AMOUNT", "how many points are built, or how long: 100, 30m; 64 by default"),
        Argument("--seed", "N", "of random numbers; 0 by default"),
        Argument("--jobs", "N", "how many are built at once; 1 by default"),
        Argument("--on", "dask://HOST:PORT", "the scheduler of a Dask cluster, whose workers build"),
        Argument("--memory", "MB", "of each worker; without a limit by default"),
        Argument("--seconds", "S", "how long a point may take; 3600 by default"),
        Argument("--no-cache", about="neither share steps between points, nor reuse those of earlier builds"),
        Argument(
            "--resume",
            about="go on with the exploration in DIR; what is given goes before what was given then",
        ),
        _TRUST_MODEL,
        JSON,
    ),
    Verb(
        "front",
        "draw the cheapest circuit of each rate for a device",
        "Of each interval that the foldings of the layers allow, the circuit that takes the least of the device. Nothing is"
        " built but hardware layers. Writes a picture, and the data beside it as FILE.json.",
        "brainsmith front examples/digits/cnn.onnx --part pynq-z2 --output front.svg",
        Argument("MODEL", about="a quantised ONNX model"),
        Argument("--part", "PART", "the device, or a board such as pynq-z2", required=True),
        Argument("--output", "FILE.svg", "the picture; front.svg by default"),
        Argument(
            "--blueprint", "FILE", "its clock, its inputs, and which backends layers may have", many=True
        ),
        _SET,
        Argument(
            "--input-datatype", "TYPE", "which integers the input is made of: UINT8, or image=UINT8,mask=INT4"
        ),
        Argument("--synthesise", about="count RTL layers without a model by synthesis, each folding alone"),
        _TRUST_MODEL,
    ),
    Verb(
        "simulate",
        "simulate a packed accelerator",
        "DIR is a build's folder, or the package in it, accelerator/, or a copy. Needs Verilator and g++, but not FINN."
        " Exit code 1 if the outputs for golden inputs are not the golden outputs.",
        "brainsmith simulate build/mlp --input x.npy --output y.npy",
        _PACKAGE,
        Argument("--input", "X.npy", "inputs, (frames, ...); the golden ones by default"),
        Argument("--output", "Y.npy", "the file for the outputs; none by default"),
        Argument("--frames", "N", "simulate the first N frames only"),
        Argument("--stalls", "SEED", "stall all inputs and outputs at random"),
        Argument("--trace", "FILE.vcd", "write waveforms"),
        Argument("--limit", "CYCLES", "stop after this many cycles"),
    ),
    Verb(
        "wave",
        "draw one frame's handshakes in a packed accelerator",
        "One row per stream over clock cycles: where a beat moved, was blocked, or was waited for. Simulates the package"
        " up to that golden frame, with inputs at the estimated rate.",
        "brainsmith wave build/mlp --frame 3 --output wave.svg",
        _PACKAGE,
        Argument("--frame", "N", "which golden frame, from 0; 0 by default"),
        Argument("--links", "A,B", "draw only these links, or those of these layers"),
        Argument("--cycles", "A-B", "draw these cycles only, from the frame's first beat on"),
        Argument("--output", "FILE.svg", "the file to write; wave.svg by default"),
    ),
    Verb(
        "run",
        "execute a model on a target",
        "The first axis of an input may be any multiple of the model's batch. Without --target, the model runs on the"
        " target that BRAINSMITH_DEVICE or the settings name, else on the best one available.",
        "brainsmith run examples/digits/mlp.onnx --target numpy --input x.npy --output y.npy",
        _MODEL,
        Argument("--target", "TARGET", "auto, a target such as numpy or rtlsim:0, or a device type"),
        Argument("--input", "X.npy", _INPUT, required=True),
        Argument("--output", "Y.npy", "the file for the outputs; none by default"),
        *_CIRCUIT,
        _TRUST_MODEL,
        *_HOW_MUCH,
    ),
    Verb(
        "compare",
        "run a model on several targets, and say where they differ",
        "Each target is compared with the first: integers must be equal, floats within the tolerance. The first node at"
        " which they differ is named. Exit code 1 if outputs differ by more.",
        "brainsmith compare examples/digits/mlp.onnx --targets reference,numpy,onnxruntime --input x.npy",
        _MODEL,
        Argument("--targets", "A,B,...", "the targets; each is compared with the first", required=True),
        Argument("--input", "X.npy", _INPUT, required=True),
        Argument("--tolerance", "T", "how far floats may differ, relative to the largest; 1e-6 by default"),
        *_CIRCUIT,
        _TRUST_MODEL,
        *_HOW_MUCH,
    ),
    Verb(
        "bench",
        "measure how fast targets run a model",
        "Latency is that of one run of the model; samples per second are measured with all inputs in one call.",
        "brainsmith bench examples/digits/mlp.onnx --targets numpy,onnxruntime",
        _MODEL,
        Argument("--targets", "A,B,...", "the targets to measure", required=True),
        Argument("--input", "X.npy", f"{_INPUT}; random by default"),
        *_CIRCUIT,
        _TRUST_MODEL,
    ),
    Verb(
        "targets",
        "list what can execute a model here",
        "The preferred one first. For each one that is not available: why, and how to make it available.",
        "brainsmith targets",
        JSON,
    ),
    Verb(
        "serve-target",
        "serve a target of this machine to programs elsewhere",
        "Clients use the target 'remote', over HTTP, until Ctrl-C or SIGTERM. Other machines can connect only if --host"
        " allows it, and then clients need a token: from a file, or BRAINSMITH_REMOTE_TOKEN.",
        "brainsmith serve-target numpy --port 8765",
        Argument("TARGET", about="the target to serve, such as numpy"),
        Argument("--host", "H", "the address to listen at; 127.0.0.1 by default"),
        Argument("--port", "P", "its port; 8765 by default, 0 picks a free one"),
        Argument("--token-file", "F", "the file with the token"),
        Argument("--certificate", "F", "the certificate of this server: TLS, at https://"),
        Argument("--key", "F", "the key of the certificate, if it is in another file"),
        Argument("--limit-mb", "N", "the largest request, in megabytes; 64 by default"),
        Argument("--timeout", "S", "the seconds that a request may take; 30 by default"),
        Argument("--requests", "N", "how many requests are processed at once; 4 by default"),
        Argument("--build", "DIR", "a build's folder; clients that have a copy of it may run it"),
    ),
    Verb(
        "kernel import",
        "make a kernel and a backend from a SystemVerilog module",
        "Reads parameters, ports and AXI streams of the module; options or a description file (YAML) state the rest: shapes"
        " and datatypes of the streams, and what it computes. Writes a kernel, a backend and a test that simulates it.",
        "brainsmith kernel import examples/own_rtl/saturate.sv --description examples/own_rtl/saturate.yaml",
        Argument("FILE", about="the file that defines the module"),
        Argument("--top", "MODULE", "the module; the file's name by default"),
        Argument("--files", "A.sv,B.sv", "the files of the modules that it instantiates"),
        Argument("--streams", "TEXT", "NAME=SHAPE:DATATYPE:LANES of each stream, separated by spaces"),
        Argument("--golden", "FILE.py:NAME", "the function that the core must compute"),
        Argument("--set", "NAME=VALUE,...", "values of parameters; they become the node's defaults"),
        Argument(
            "--parallel", "NAME=LIMIT,...", "parameters that set the parallelism, and what each must divide"
        ),
        Argument("--cycles", "TEXT", "cycles per frame; by default the beats of the longest stream"),
        Argument("--early", about="it may begin a frame before its first input beat, as a padding core does"),
        Argument("--tie", "PORT=VALUE,...", "inputs that get a constant"),
        Argument("--open", "PORT,...", "outputs that nothing reads"),
        Argument("--name", "NAME", "the kernel's name; the module's in CamelCase by default"),
        Argument("--description", "FILE.yaml", "a file that states all of this; options override it"),
        Argument("--output", "DIR", "the folder for the plugins; plugins by default"),
        Argument("--tests", "DIR", "the folder for the test; tests by default"),
        Argument("--update", about="overwrite what an earlier import wrote, except the test"),
        Argument("--force", about="with --update: overwrite what you have edited since, too"),
    ),
    Verb(
        "trust list",
        "list what is trusted, and which plugins may be imported",
        "The setting trust says which: what is installed and folders of this user (installed, the default), only what is"
        " listed (listed), or all (off). The list is trust.json beside the user's settings.",
        "brainsmith trust list",
        JSON,
    ),
    Verb(
        "trust add",
        "trust a distribution, a folder of plugins, or a key",
        "A distribution is trusted in the version that is installed, or in those that are stated; a folder with whatever is"
        " in it. --content trusts either only as it is now. A key is a file that `trust key` wrote.",
        "brainsmith trust add ../team/plugins --content",
        Argument(
            "WHAT", about="a distribution ('acme', 'acme>=1,<2'), a folder, or the file of a public key"
        ),
        Argument("--content", about="trust it as it is now: by a digest of all of its files"),
    ),
    Verb(
        "trust remove",
        "trust a distribution, a folder or a key no longer",
        "WHAT is named as `trust list` shows it; a key by itself, or by whose it is.",
        "brainsmith trust remove acme",
        Argument("WHAT", about="a distribution, a folder, or a key"),
    ),
    Verb(
        "trust key",
        "make a key to sign folders of plugins with",
        "Writes an ed25519 key: the private one to FILE, which only you may read, the public one to FILE.pub.",
        "brainsmith trust key team.key --name team",
        Argument("FILE", about="the file for the private key; it must not exist"),
        Argument("--name", "NAME", "whose it is"),
    ),
    Verb(
        "trust sign",
        "sign a folder of plugins",
        "Writes plugin.sig into it, which names all of its files by SHA-256. Who trusts the key may import its plugins,"
        " as long as no file is changed, added or removed.",
        "brainsmith trust sign plugins --key team.key",
        Argument("DIR", about="a folder with plugins, or with a bundle's plugin.json"),
        Argument("--key", "FILE", "the private key", required=True),
    ),
    *CACHE_VERBS,
    Verb(
        "health",
        "say what works here, what does not, and what to do",
        "Exit code 0 if healthy: the registry, the caches and every enabled, installed framework work. Optional tools"
        " do not change it. With --watch it goes on until Ctrl-C, says each change, and ends with the exit code of the last"
        " status.",
        "brainsmith health",
        Argument(
            "--watch",
            "SECONDS",
            "look again every so many seconds, 30 by default, and print a line when something changes",
            default="30",
        ),
        JSON,
    ),
    Verb(
        "env list",
        "list other Python environments, whose plugins run in workers",
        "The environments of the settings: the Python and its version, how many plugins are found there, or what is wrong.",
        "brainsmith env list",
        JSON,
    ),
    Verb(
        "env create",
        "make an environment that the settings state by requirements",
        "Makes a virtual environment below the folder of user data, and installs its requirements with uv, or else pip. One"
        " that is made already is left as it is.",
        "brainsmith env create acme",
        Argument("NAME", about="an environment of the setting `environments`"),
    ),
    Verb(
        "install-finn",
        "install FINN, without packages that no build uses",
        "Installs FINN+ and what it needs with this Python's pip, at versions that were tested together, but without"
        " brevitas and torch (5 GB).",
        "brainsmith install-finn",
        Argument("--dry-run", about="print the command, for another installer, and run nothing"),
    ),
    Verb(
        "stats",
        "measure a discovery in this process",
        "Time, source and cache hits of the discovery, memory, and the numbers of plugins.",
        "brainsmith stats",
        JSON,
    ),
    Verb(
        "metrics",
        "print figures for Prometheus: plugins, caches, health",
        "In the text format, of what is known here and kept on disk; docs/monitoring.md lists them. A long process serves"
        " its own at /metrics. Needs the extra [metrics].",
        "brainsmith metrics --output brainsmith.prom",
        Argument("--output", "FILE", "write them to a file, at once, as node_exporter collects them"),
        Argument("--dashboard", about="print the dashboard for Grafana instead"),
    ),
    Verb(
        "completion",
        "print the completion script for a shell",
        "Verbs, options, plugin names, frameworks and stages are completed.",
        'eval "$(brainsmith completion bash)"',
        Argument("SHELL", about="the shell", choices=SHELLS),
    ),
)
"""Every verb, in the order of the help."""
