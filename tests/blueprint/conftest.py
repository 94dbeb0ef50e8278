"""What the blueprint tests share: files in a folder of their own, and what is wrong with them."""

from __future__ import annotations

import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.errors import BlueprintError


class Files:
    """Writes blueprints to a folder and reads them back."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, text, name="x.yaml"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def load(self, text):
        return load_blueprint(self.write(text))

    def body(self, text):
        """Load what stands under hw_compiler, given without indentation."""
        lines = "".join(f"  {line}\n" for line in text.splitlines())
        return self.load("hw_compiler:\n" + lines)

    def errors(self, text):
        """Give the error's lines with the file's name cut off; the text's line 1 is the file's."""
        with pytest.raises(BlueprintError) as caught:
            self.load(text)
        return str(caught.value).replace(str(self.folder) + "/", "").splitlines()

    def body_errors(self, text):
        """Like `errors` for what stands under hw_compiler: the text's line 1 is the file's line 2."""
        lines = "".join(f"  {line}\n" for line in text.splitlines())
        return self.errors("hw_compiler:\n" + lines)


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)
