"""Named API keys: what is stored of them, and how they are found and revoked."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from math import inf, nan

import pytest

from bot.api_keys import (
    CAP_RULE,
    NAME_RULE,
    ApiKeyError,
    find_key,
    list_keys,
    new_key,
    own_budget,
    revoke_key,
    save_key,
)
from council.budget_caps import OwnBudget
from council.ports import KeyValueStore
from tests.fakes.memory_key_value import MemoryKeyValueStore

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def key_values() -> KeyValueStore:
    return MemoryKeyValueStore()


async def created(key_values: KeyValueStore, name: str = "ci", cap: float | None = None) -> str:
    key, text = new_key(name, NOON, ("house",), cap)
    await save_key(key_values, key)
    return text


async def test_a_key_is_found_by_its_text(key_values: KeyValueStore) -> None:
    text = await created(key_values)

    found = await find_key(key_values, text)

    assert found
    assert (found.name, found.asker_id, found.panels) == ("ci", "api:ci", ("house",))
    assert (found.allows("house"), found.allows("dear")) == (True, False)


async def test_only_a_digest_is_stored(key_values: KeyValueStore) -> None:
    text = await created(key_values)

    stored = json.dumps(await key_values.list_texts("api_key"))
    assert text not in stored
    assert text.partition(".")[2] not in stored
    assert "api:ci" not in text


@pytest.mark.parametrize("change", ["", "x", "council_", "council_ci.", "council_ci", "sk-ci.x"])
async def test_another_text_finds_nothing(key_values: KeyValueStore, change: str) -> None:
    text = await created(key_values)

    assert await find_key(key_values, change) is None
    assert await find_key(key_values, text + "x") is None
    assert await find_key(key_values, text[:-1]) is None
    assert await find_key(key_values, text.replace("_ci.", "_me.")) is None
    assert await find_key(key_values, text.replace("_ci.", "_" + "c" * 1_000 + ".")) is None


async def test_a_revoked_key_is_still_found_so_that_it_can_be_refused(
    key_values: KeyValueStore,
) -> None:
    text = await created(key_values)

    await revoke_key(key_values, "ci", NOON)
    again = await revoke_key(key_values, "ci", NOON + timedelta(days=1))

    found = await find_key(key_values, text)
    assert found
    assert found == again
    assert found.revoked_at == NOON


async def test_a_name_is_used_once_even_after_it_is_revoked(key_values: KeyValueStore) -> None:
    await created(key_values)
    await revoke_key(key_values, "ci", NOON)

    with pytest.raises(ApiKeyError, match="There is or was a key named 'ci'"):
        await created(key_values)


async def test_a_key_that_is_stored_again_by_a_retry_is_no_error(
    key_values: KeyValueStore,
) -> None:
    key, _ = new_key("ci", NOON)

    await save_key(key_values, key)
    await save_key(key_values, replace(key))

    assert await list_keys(key_values) == (key,)


async def test_a_key_that_does_not_exist_cannot_be_revoked(key_values: KeyValueStore) -> None:
    with pytest.raises(ApiKeyError, match="There is no key named 'ci'"):
        await revoke_key(key_values, "ci", NOON)


@pytest.mark.parametrize("name", ["", "CI", "a b", "-a", "a.b", "a/b", "a" * 41, "ü"])
def test_a_name_of_unusual_characters_is_refused(name: str) -> None:
    with pytest.raises(ApiKeyError, match=NAME_RULE):
        new_key(name, NOON)


@pytest.mark.parametrize("cap", [-1, nan, inf, 1e9])
def test_a_cap_that_is_no_amount_is_refused(cap: float) -> None:
    with pytest.raises(ApiKeyError, match=CAP_RULE):
        new_key("ci", NOON, cap_usd=cap)


async def test_only_the_asker_behind_a_key_has_its_budget(key_values: KeyValueStore) -> None:
    await created(key_values, "ci", 2.5)
    await created(key_values, "free", 0)
    await created(key_values, "open")
    await save_key(key_values, new_key("mine", NOON, made_by="web:home.ana")[0])

    budgets = [
        await own_budget(key_values, asker)
        for asker in ("api:ci", "api:free", "api:open", "api:mine", "api:none", "api", "web:1")
    ]

    assert budgets == [
        OwnBudget(2_500_000),
        OwnBudget(0),
        OwnBudget(),
        OwnBudget(shared_with="web:home"),
        None,
        None,
        None,
    ]


async def test_a_key_of_an_earlier_version_has_a_budget_of_its_own(
    key_values: KeyValueStore,
) -> None:
    key, _ = new_key("ci", NOON, cap_usd=2)
    stored = {name: value for name, value in asdict(key).items() if name != "made_by"}
    await key_values.put("api_key", "ci", json.dumps(stored, default=str))

    assert await own_budget(key_values, "api:ci") == OwnBudget(2_000_000)


@pytest.mark.parametrize(("cap", "limit"), [(None, 5), (2e-6, 2), (9e-6, 9), (0, 0)])
def test_without_a_cap_the_limit_of_every_asker_holds_for_a_key(
    cap: float | None, limit: int
) -> None:
    key, _ = new_key("ci", NOON, cap_usd=cap)

    assert key.day_limit(5) == limit


async def test_keys_are_listed_by_name(key_values: KeyValueStore) -> None:
    for name in ("b", "a", "c"):
        await created(key_values, name)

    assert [key.name for key in await list_keys(key_values)] == ["a", "b", "c"]
