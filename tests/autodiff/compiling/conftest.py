"""What is compiled for these tests is kept for all of them, as a user's cache keeps it."""

import pytest


@pytest.fixture(scope="session")
def shared_parts():
    """Share compiled operations."""
    return ("ops",)
