"""The secret that client and server share."""

from __future__ import annotations

import hmac
from pathlib import Path

from brainsmith.errors import SettingsError
from brainsmith.settings import remote_token

SHORTEST = 16
VARIABLE = "BRAINSMITH_REMOTE_TOKEN"


def find_token(file: str | None) -> tuple[str, str]:
    """Return the token of a file, or else of the environment, and where it comes from; ("", "") if there is none.

    Raises:
        SettingsError: The file cannot be read, or what it holds is no token.
    """
    if file is None:
        token = remote_token()
        return (checked_token(token, VARIABLE), VARIABLE) if token else ("", "")
    try:
        text = Path(file).expanduser().read_text("utf-8")
    except OSError as error:
        raise SettingsError(f"the token file {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"the token file {file} must hold one line of text") from error
    return checked_token(text.strip(), f"the token file {file}"), file


def checked_token(token: str, source: str) -> str:
    """Return a token that can be sent.

    Args:
        token: The token.
        source: Where it comes from, for the message, which does not show the token.

    Raises:
        SettingsError: It is too short, or has spaces or other characters than ASCII's.
    """
    if len(token) < SHORTEST or not all("!" <= character <= "~" for character in token):
        raise SettingsError(
            f"{source} must hold a token of {SHORTEST} or more letters, digits and signs of ASCII without spaces, "
            'such as python -c "import secrets; print(secrets.token_urlsafe())" prints'
        )
    return token


def is_token(given: str, token: str) -> bool:
    """Return whether a request's `Authorization` is that of a token, in a time that does not depend on the difference."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {token}".encode())
