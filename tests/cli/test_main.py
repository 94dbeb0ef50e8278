"""The command line as a whole: verbs, help, exit codes, and how it ends when something goes wrong."""

import os
import signal
import subprocess
import sys

import pytest

from brainsmith import __version__
from brainsmith.cli.main import find_verb, main
from brainsmith.cli.verbs import VERBS
from tests.cli.command import COMMAND, brainsmith, on_terminal


def test_the_version():
    done = brainsmith("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"brainsmith {__version__}\n", "")


def test_the_version_has_a_short_option(capsys):
    assert main(["-V"]) == 0
    assert capsys.readouterr() == (f"brainsmith {__version__}\n", "")


@pytest.mark.parametrize(
    "words", [(), ("plugins",), ("build",), ("plugins", "list"), ("build", "a.onnx", "--output", "out")]
)
def test_help_is_a_verb_too(words, capsys):
    assert main([*words, "--help"]) == 0
    expected = capsys.readouterr()
    assert main(["help", *words]) == 0
    assert capsys.readouterr() == expected


def test_help_has_no_help_of_its_own(capsys):
    assert main(["--help"]) == main(["help", "help"]) == main(["help", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown == shown[: len(shown) // 3] * 3


def test_the_installed_command_is_the_module(tmp_path):
    script = os.path.join(os.path.dirname(sys.executable), "brainsmith")
    installed = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert installed.stdout == brainsmith("--help").stdout


def test_without_a_verb_there_is_help(capsys):
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for verb in VERBS:
        assert f"  {' '.join(verb.words)} " in shown.out


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: " ".join(verb.words))
def test_every_verb_has_help_with_an_example(verb, capsys):
    assert main([*verb.words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: {verb.command}")
    assert f"Example:\n  {verb.example}\n" in shown
    words = " ".join(shown.split())
    for argument in verb.arguments:
        assert f"  {argument.label} " in shown and argument.about in words


@pytest.mark.parametrize("words", [(), ("plugins",), *(verb.words for verb in VERBS)], ids=" ".join)
def test_help_fits_into_80_columns_but_for_its_example(words, capsys):
    assert main([*words, "--help"]) == 0
    shown, _, _ = capsys.readouterr().out.partition("\nExample:\n")
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: " ".join(verb.words))
def test_every_example_is_a_command(verb):
    from brainsmith.cli.command_line import parse

    words = verb.example.removeprefix('eval "$(').removesuffix(')"').split()[1:]
    assert find_verb(words) is verb
    parse(verb, words[len(verb.words) :])


def test_help_of_a_group_lists_its_verbs(capsys):
    assert main(["plugins", "--help"]) == 0
    assert capsys.readouterr().out == (
        "  plugins list     list the available plugins\n"
        "  plugins show     show all that is known of a plugin\n"
        "  plugins check    check plugin files before they are used\n"
        "  plugins stubs    write type stubs, so that editors complete plugin names\n"
        "  plugins support  list which operators plugins support, and how\n"
        "\n"
        "brainsmith plugins list --help shows a verb's options, and an example.\n"
    )


WORDS = ", ".join((*dict.fromkeys(verb.words[0] for verb in VERBS), "help"))
MISUSE = {
    "plugin list": (f"brainsmith has no verb 'plugin'. Did you mean 'plugins'?\n  it has {WORDS}"),
    "nonsense": (f"brainsmith has no verb 'nonsense'\n  it has {WORDS}"),
    "--verison": "brainsmith has no option '--verison'. Did you mean '--version'?\n  it has --help, --version",
    "plugins": "brainsmith plugins needs a verb: list, show, check, stubs, support\n  brainsmith --help shows them",
    "plugins lsit": (
        "brainsmith plugins has no verb 'lsit'. Did you mean 'list'?\n  it has list, show, check, stubs, support"
    ),
    "help buidl": (f"brainsmith has no verb 'buidl'. Did you mean 'build'?\n  it has {WORDS}"),
    "help plugins lsit": (
        "brainsmith plugins has no verb 'lsit'. Did you mean 'list'?\n  it has list, show, check, stubs, support"
    ),
    "plugins lsit --help": (
        "brainsmith plugins has no verb 'lsit'. Did you mean 'list'?\n  it has list, show, check, stubs, support"
    ),
    "plugins list --tpye kernel": (
        "brainsmith plugins list has no option '--tpye'. Did you mean '--type'?\n"
        "  brainsmith plugins list --help shows its options"
    ),
    "plugins list --type transfrom": (
        "--type must be transform, kernel, backend, step, op, target or bundle, not 'transfrom'."
        " Did you mean 'transform'?\n  brainsmith plugins list --help shows its options"
    ),
    "plugins list --type": (
        "--type needs a value, TYPE: transform, kernel, backend, step, op, target or bundle\n"
        "  brainsmith plugins list --help shows its options"
    ),
    "plugins list --framework --stage": (
        "--framework needs a value, FRAMEWORK\n  brainsmith plugins list --help shows its options"
    ),
    "plugins list --json=yes": (
        "--json takes no value; found 'yes'\n  brainsmith plugins list --help shows its options"
    ),
    "plugins list extra": (
        "brainsmith plugins list takes options only; unexpected argument 'extra'\n"
        "  brainsmith plugins list --help shows its options"
    ),
    "plugins show": (
        "brainsmith plugins show needs NAME: a plugin's name, bare or framework:Name\n"
        "  brainsmith plugins show --help shows its options"
    ),
    "plugins show A B": (
        "brainsmith plugins show takes only NAME; unexpected argument 'B'\n"
        "  brainsmith plugins show --help shows its options"
    ),
    "build m.onnx --output out": (
        "brainsmith build needs --blueprint FILE, or --fit PART\n  brainsmith build --help shows its options"
    ),
    "completion pwsh": (
        "SHELL must be bash, zsh or fish, not 'pwsh'\n  brainsmith completion --help shows its options"
    ),
}


@pytest.mark.parametrize("line", MISUSE)
def test_misuse_says_what_to_do(line, capsys):
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"error: {MISUSE[line]}\n")


def test_a_bug_keeps_its_traceback(monkeypatch):
    from brainsmith.cli import stats

    def broken(options, terminal):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(stats, "run", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main(["stats"])


def test_a_reader_that_has_seen_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)  # before the command begins, so that it always writes in vain
    done = subprocess.run(
        [*COMMAND, "plugins", "list"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_standard_output_may_be_closed():
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "plugins", "list"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_output_that_is_full_is_said():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "plugins", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (
        1,
        "error: the output cannot be written: No space left on device\n",
    )


NAPS = "[time.sleep(0.01) for _ in range(6000)]"
"""A minute in which a signal is seen: Python sleeps through one that comes between its last look and the sleep."""


@pytest.mark.parametrize("waiting", [NAPS, f"exec('{NAPS}')"], ids=["a module", "exec"])
def test_ctrl_c_says_so_and_no_more(project, waiting):
    (project / "plugins" / "keep_all.py").write_text(
        "import time\n"
        "from brainsmith.plugin.core import step\n"
        "print('importing', flush=True)\n"
        f"{waiting}\n"
        "@step\n"
        "def keep_all(model, cfg): return model\n"
    )
    with subprocess.Popen(
        [*COMMAND, "plugins", "check", "plugins", "--load"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_text_that_the_output_cannot_encode_is_escaped(project):
    (project / "plugins" / "keep_all.py").write_text(
        "from brainsmith.plugin.core import step\n\n"
        '@step(description="größer → better")\ndef keep_all(model, cfg): return model\n'
    )
    words = ("plugins", "list", "--framework", "project")
    assert brainsmith(*words, PYTHONIOENCODING="ascii").stdout == (
        "step\tproject\tkeep_all\t\t\tgr\\xf6\\xdfer \\u2192 better\n"
    )
    assert brainsmith(*words, PYTHONIOENCODING="utf-8").stdout.endswith("größer → better\n")


@pytest.mark.slow
def test_without_a_home_it_works():
    done = brainsmith("plugins", "list", HOME=None, XDG_CACHE_HOME=None, XDG_CONFIG_HOME=None)
    assert done.returncode == 0
    assert "transform\tfinn\tStreamline\t" in done.stdout


@pytest.mark.slow
def test_colour_is_for_terminals_that_want_it():
    assert "\x1b[1m" in on_terminal("plugins", "show", "ExpandNorms")[1]
    assert "\x1b" not in on_terminal("plugins", "show", "ExpandNorms", NO_COLOR="1")[1]
    assert "\x1b" not in on_terminal("plugins", "show", "ExpandNorms", TERM="dumb")[1]
    assert "\x1b" not in brainsmith("plugins", "show", "ExpandNorms").stdout


def test_a_wrong_setting_is_named():
    done = brainsmith("plugins", "list", BRAINSMITH_PLUGIN_MODE="fulll")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: BRAINSMITH_PLUGIN_MODE: discovery_mode must be full or blueprint or selective, not 'fulll'\n"
    )
