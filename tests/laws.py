"""How many examples the laws try: all that they state in CI, a part of them before a commit."""

import os

from hypothesis import settings

PART = {"ci": 1.0, "dev": 0.4}
"""The part of a law's examples that is tried, by profile."""

FEW = 10
"""As many examples are always tried, unless the law itself states fewer."""

COMPILED = 2
"""As many are tried before a commit where each is compiled: always the same ones, so what is compiled is kept."""

# In CI with the same examples for the same commit; each run before a commit tries others.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("dev", deadline=None)


def load_profile() -> str:
    """Use the profile of CI where `CI` is set, as services do and `.ci/run` does; return its name."""
    name = "ci" if os.environ.get("CI") else "dev"
    settings.load_profile(name)
    return name


def examples(stated: int, profile: str) -> int:
    """Return how many examples a law tries that states so many."""
    return max(min(stated, FEW), round(stated * PART[profile]))


def scale(law: object, profile: str, *, compiles: bool = False) -> None:
    """Let a law try as many examples as the profile says; a test that is no law is left alone.

    Args:
        law: The test.
        profile: Its name.
        compiles: Whether each example is compiled.
    """
    stated = getattr(law, "_hypothesis_internal_use_settings", None)
    if stated is None:
        return
    if compiles and profile == "dev":
        tried = settings(
            stated, max_examples=min(stated.max_examples, COMPILED), derandomize=True, database=None
        )
    else:
        tried = settings(stated, max_examples=examples(stated.max_examples, profile))
    law._hypothesis_internal_use_settings = tried
