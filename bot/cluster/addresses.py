"""A database server's address, as its driver takes it."""

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from council.errors import StoreError

DRIVER = "postgresql+psycopg://"
# Nobody waits for ever on a connection whose other end is gone.
PATIENCE = {
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",  # milliseconds
}
# A process that is frozen, or cut off, holds up the others for so long at most.
SESSION = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
}


def conninfo_of(url: str, name: str) -> str:
    """Give what connects to a server under a name it shows; the address' own wishes stand."""
    try:
        said = conninfo_to_dict(url.replace(DRIVER, "postgresql://", 1))
    # What cannot be read is not quoted: it may be the password.
    except Exception:  # noqa: BLE001
        raise StoreError(
            "COUNCIL_DATABASE_URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, "
            "with what is no letter or digit of the password as %XX."
        ) from None
    session = " ".join(f"-c {key}={value}" for key, value in SESSION.items())
    options = f"{session} {said.get('options', '')}".rstrip()
    return make_conninfo("", **{"application_name": name, **PATIENCE, **said, "options": options})
