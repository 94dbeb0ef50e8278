"""Where a token comes from, and what is one."""

import pytest

from brainsmith.errors import SettingsError
from brainsmith.runtime.serving.token import find_token, is_token
from tests.runtime.serving.served import TOKEN

HOW = (
    "must hold a token of 16 or more letters, digits and signs of ASCII without spaces, such as "
    'python -c "import secrets; print(secrets.token_urlsafe())" prints'
)


def test_a_file_wins_over_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert find_token(None) == ("", "")
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN", "of-the-environment")
    assert find_token(None) == ("of-the-environment", "BRAINSMITH_REMOTE_TOKEN")
    assert find_token(str(file)) == (TOKEN, str(file))


@pytest.mark.parametrize(
    "text", ["", "too-short", "with spaces in the midst", "two\nlines-of-a-token", "ü" * 20]
)
def test_what_is_no_token(text, tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        find_token(str(file))
    assert str(error.value) == f"the token file {file} {HOW}"
    if text:
        monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN", text)
        with pytest.raises(SettingsError) as error:
            find_token(None)
        assert str(error.value) == f"BRAINSMITH_REMOTE_TOKEN {HOW}"


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SettingsError) as error:
        find_token(str(tmp_path / "no"))
    assert str(error.value) == f"the token file {tmp_path}/no cannot be read: No such file or directory"
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError) as error:
        find_token(str(tmp_path / "bytes"))
    assert str(error.value) == f"the token file {tmp_path}/bytes must hold one line of text"


def test_only_the_whole_token_is_it():
    assert is_token(f"Bearer {TOKEN}", TOKEN)
    for given in ("", TOKEN, f"bearer {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \ud800é"):
        assert not is_token(given, TOKEN)
