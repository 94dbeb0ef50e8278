"""How many examples the laws try: a part of them in `make test`, and all that they state in `make test-slow`."""

import os

from hypothesis import settings

PART = {"all": 1.0, "part": 0.2}
"""The part of a law's examples that is tried, by profile."""

FEW = 10
"""As many examples are always tried, unless the law itself states fewer."""

COMPILED = 2
"""As many are tried in part where each is compiled, if its mark says nothing else: the same ones each time."""

BUILT = 3
"""As many are tried in part where each builds a network, some of them several times."""

# In CI with the same examples for the same commit; each run before a commit tries others.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("dev", deadline=None, derandomize=False)


def load_profile() -> str:
    """Let Hypothesis choose examples as the surroundings ask for; return how many a law tries: "all" or "part".

    `CI`, set in CI, means the same examples each time; `LAWS=all`, which `make test-slow` sets, means
    all of them.
    """
    settings.load_profile("ci" if os.environ.get("CI") else "dev")
    return "all" if os.environ.get("LAWS") == "all" else "part"


def examples(stated: int, profile: str) -> int:
    """Return how many examples a law tries that states so many; the profile is "all" or "part"."""
    return max(min(stated, FEW), round(stated * PART[profile]))


def scale(law: object, profile: str, *, compiles: int = 0, builds: bool = False) -> None:
    """Let a law try as many examples as the profile says; a test that is no law is left alone.

    Args:
        law: The test.
        profile: "all" or "part".
        compiles: How many are tried in part where each example is compiled; 0 where none is.
        builds: Whether each example builds a network.
    """
    stated = getattr(law, "_hypothesis_internal_use_settings", None)
    if stated is None:
        return
    if compiles and profile == "part":
        tried = settings(
            stated, max_examples=min(stated.max_examples, compiles), derandomize=True, database=None
        )
    elif builds and profile == "part":
        tried = settings(stated, max_examples=min(stated.max_examples, BUILT))
    else:
        tried = settings(stated, max_examples=examples(stated.max_examples, profile))
    law._hypothesis_internal_use_settings = tried
