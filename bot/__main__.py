"""Entry point of the program `council`."""

import gc

# Imported modules stay in memory: scanning them repeatedly takes a tenth of the start-up time.
_GC_THRESHOLD = 100_000


def main() -> None:
    """Run the command line."""
    gc.disable()  # until a command runs
    gc.set_threshold(_GC_THRESHOLD)
    from bot.cli.main import app

    try:
        app()
    finally:
        gc.freeze()  # no scan at exit: the process releases its memory anyway


if __name__ == "__main__":
    main()
