"""The program `council`."""

import gc

MOST_UNCOLLECTED = 50_000


def main() -> None:
    """Run the command line."""
    # A command makes values by the hundred thousand and keeps them: looking for rubbish among them
    # every few hundred takes a fifth of a large board's time.
    gc.set_threshold(MOST_UNCOLLECTED)
    from bot.cli.app import app

    app()


if __name__ == "__main__":
    main()
