"""`make hostile`: attack the product as a process, print one table, fail if a target is missed."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hostile.attacks import Row, attack_all, file_modes
from tests.hostile.product import running_product

INJECTION = "tests.bench.injection"


def main() -> None:
    """Run every attack; exit with 1 if a target was missed."""
    rows: list[Row] = []
    with TemporaryDirectory(prefix="council-hostile-") as name:
        folder = Path(name)
        with running_product(folder) as product:
            for row in attack_all(product):
                rows.append(row)
                sys.stderr.write(f"{row.attack}: {row.measured}{'' if row.passed else ' FAIL'}\n")
            rows += file_modes(folder)
    code = subprocess.run([sys.executable, "-m", INJECTION], check=False).returncode
    rows.append(Row("ballots and injections (its own table)", "exit 0", str(code), code == 0))
    sys.stdout.write(table(rows))
    sys.exit(not all(row.passed for row in rows))


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| attack | target | measured | margin | |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.attack} | {row.target} | {row.measured} | {row.margin} | "
        f"{'PASS' if row.passed else 'FAIL'} |"
        for row in rows
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
