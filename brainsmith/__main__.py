"""Run the command line: `python -m brainsmith` equals `brainsmith`."""

import sys

from brainsmith.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
