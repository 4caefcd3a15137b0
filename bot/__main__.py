"""The program `council`."""

import gc

# What is imported stays: to look through it again and again takes a tenth of a start's time.
_COLLECTED_AFTER = 100_000


def main() -> None:
    """Run the command line."""
    gc.disable()  # until a command runs
    gc.set_threshold(_COLLECTED_AFTER)
    from bot.cli.main import app

    try:
        app()
    finally:
        gc.freeze()  # what is left goes with the process, and is not looked through before


if __name__ == "__main__":
    main()
