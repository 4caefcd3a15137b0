"""Fresh environments: they see the packages that the program needs, but not this checkout."""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def fresh_environment(folder: Path, *trees: Path) -> Path:
    """Return the interpreter of a new environment in which these trees are importable.

    An editable install of this checkout is not seen: links of another environment are not followed.
    """
    venv.EnvBuilder(with_pip=False).create(folder)
    python = folder / "bin" / "python"
    base = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=base))
    seen = [*map(str, trees), sysconfig.get_path("purelib")]
    (packages / "seen.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
    return python


def install(python: Path, package: Path, folder: Path) -> None:
    """Install a copy of a package, made in this folder, without what it needs."""
    copy = shutil.copytree(package, folder / package.name)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, str(copy)], check=True, capture_output=True, text=True)
