"""The program `council`."""

import gc


def main() -> None:
    """Run the command line."""
    gc.disable()  # until a command runs: imports leave no garbage, and looking for it takes long
    from bot.cli.app import app

    try:
        app()
    finally:
        gc.freeze()  # what is left goes with the process, and is not looked through before


if __name__ == "__main__":
    main()
