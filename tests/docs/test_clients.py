"""The page of clients is the one that `make clients` wrote for the pinned versions."""

import re

from tests.clients.__main__ import PAGE
from tests.clients.clients import CLIENTS


def test_the_page_has_every_client_at_its_pinned_version_and_all_of_them_work() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| [")]
    counts = re.findall(r"(\d+) of (\d+)", " ".join(" ".join(row[2:]) for row in rows))

    assert [row[1] for row in rows] == [", ".join(client.packages) for client in CLIENTS], (
        "run `make clients`"
    )
    assert [f"{worked} of {tried}" for worked, tried in counts if worked != tried] == []
    assert all(text.count(f"\n{client.name}: POST /v1/chat/completions ") for client in CLIENTS)
    assert len(text.split()) < 900
