"""Entry point of the program `council`: its own packages go before a user's files.

A user may have a `bot.py`, or a folder `storage`, where Python looks first.
"""

import os
import sys
from pathlib import Path


def prefer_own_packages() -> None:
    """Search the working directory, the script's folder and PYTHONPATH last, not first.

    Python puts them before its own library. What only they have can still be imported.
    """
    own, library = str(Path(__file__).absolute().parent), str(Path(os.__file__).parent)
    cut = sys.path.index(library) if library in sys.path else 0
    first, rest = sys.path[:cut], sys.path[cut:]
    ours = [] if own in rest else [own]
    sys.path[:] = [*ours, *rest, *(entry for entry in first if entry != own)]


def main() -> None:
    """Run the command line."""
    prefer_own_packages()
    from bot.__main__ import main as run

    run()
