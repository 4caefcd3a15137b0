"""Entry point of the program `council`."""

import gc
import os

# Imported modules stay in memory: scanning them repeatedly takes a tenth of the start-up time.
_GC_THRESHOLD = 100_000
_PRIVATE = 0o077  # what others may do with the files that the program writes: nothing


def main() -> None:
    """Run the command line."""
    gc.disable()  # until a command runs
    gc.set_threshold(_GC_THRESHOLD)
    os.umask(_PRIVATE)
    from bot.cli.main import app

    try:
        app(prog_name="council")
    finally:
        gc.freeze()  # no scan at exit: the process releases its memory anyway


if __name__ == "__main__":
    from council_entry_point import prefer_own_packages

    prefer_own_packages()
    main()
