"""The program `council`."""


def main() -> None:
    """Run the command line."""
    from bot.cli.app import app

    app()


if __name__ == "__main__":
    main()
