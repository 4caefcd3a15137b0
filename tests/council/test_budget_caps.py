"""Which account is charged, and the message when a cap is reached."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from council.answers import Call, Prompt
from council.budget import (
    MAX_BALLOT_TOKENS,
    MAX_TEXT_TOKENS,
    Estimate,
    call_cost_micro_usd,
    estimate_round,
)
from council.budget_caps import (
    Account,
    CapRefusal,
    Caps,
    CapUsage,
    ChosenCaps,
    Scope,
    find_refusal,
    payer,
    schedule_of_round,
)
from council.money import FREE, Price
from council.panel import Terms
from council.places import NOWHERE, Place
from council.rounds import Question
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway

TODAY = date(2026, 11, 21)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE = Account("r1", TODAY, "U1", "slack/T1/C1", "nightly")


def test_a_round_is_charged_to_its_asker_and_channel() -> None:
    place = Place("slack", "T1", "C1", thread="17.1")
    round_ = a_round(question=Question("Why?", "U1", place=place))

    account = Account.of(round_, NOON)

    assert account == Account("r1", TODAY, "U1", "slack/T1/C1")
    assert account.workspace == "slack/T1"
    assert account.scopes == tuple(scope for scope in Scope if scope is not Scope.SCHEDULE_DAY)


@pytest.mark.parametrize(
    ("scope", "used", "retry_at"),
    [
        pytest.param(Scope.DAY, CapUsage(5), datetime(2026, 11, 22, tzinfo=UTC), id="day"),
        pytest.param(Scope.USER_DAY, CapUsage(5), datetime(2026, 11, 22, tzinfo=UTC), id="user"),
        pytest.param(Scope.MONTH, CapUsage(5), datetime(2026, 12, 1, tzinfo=UTC), id="month"),
        pytest.param(Scope.MONTH, CapUsage(1, 4), NOON + timedelta(minutes=1), id="round-runs"),
    ],
)
def test_a_cap_may_have_room_when_its_time_is_over_or_a_round_ends(
    scope: Scope, used: CapUsage, retry_at: datetime
) -> None:
    assert CapRefusal(scope, 5, used).retry_at(NOON) == retry_at


def test_visitors_of_the_page_at_one_address_share_their_budgets() -> None:
    accounts = {
        Account.of(a_round(question=Question("Why?", who, place=Place("web", channel=who))), NOON)
        for who in ("web:a1.ada", "web:a1.ben")
    }

    assert accounts == {Account("r1", TODAY, "web:a1", "web//web:a1")}


@pytest.mark.parametrize(
    ("asker", "account"),
    [
        pytest.param("web:old", "web:", id="cookie-of-an-older-version"),
        pytest.param("U1.x", "U1.x", id="chat"),
        pytest.param("", "", id="nobody"),
    ],
)
def test_others_pay_for_themselves(asker: str, account: str) -> None:
    assert payer(asker) == account


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(Place("discord", "", "D1", private=True), id="direct-messages"),
        pytest.param(Place("web", channel="web:1"), id="page"),
        pytest.param(NOWHERE, id="nowhere"),
    ],
)
def test_a_place_without_a_workspace_has_no_workspace_cap(place: Place) -> None:
    account = Account.of(a_round(question=Question("Why?", "U1", place=place)), NOON)

    assert account.workspace == ""
    assert Scope.WORKSPACE_DAY not in account.scopes


@pytest.mark.parametrize(
    ("channel", "cap"),
    [
        pytest.param("slack/T1/C1", 5, id="its-own"),
        pytest.param("slack/T2/C1", 9, id="the-general-one"),
        pytest.param("slack//T1", 9, id="a-channel-of-the-same-name"),
    ],
)
def test_a_workspaces_own_cap_replaces_the_general_one(channel: str, cap: int) -> None:
    caps = Caps(channel_day=7, workspace_day=9, workspaces={"T1": 5})

    found = caps.for_account(replace(ONE, channel=channel))

    assert (found.workspace_day, found.channel_day) == (cap, 7)


@pytest.mark.parametrize(
    ("caps", "expected"),
    [
        pytest.param(Caps(), (3, 2), id="no-caps"),
        pytest.param(Caps(workspace_day=9), (9, 2), id="the-general-one-first"),
        pytest.param(Caps(workspaces={"T1": 8}, channels={"C1": 0}), (8, 0), id="their-own-first"),
    ],
)
def test_caps_that_admins_chose_count_where_there_are_none(
    caps: Caps, expected: tuple[int, int]
) -> None:
    found = caps.for_account(replace(ONE, channel="slack/T1/C1"), ChosenCaps(3, 2))

    assert (found.workspace_day, found.channel_day) == expected


def test_days_are_utc() -> None:
    late = datetime(2026, 11, 21, 23, tzinfo=timezone(timedelta(hours=-5)))

    assert Account.of(a_round(), late).day == date(2026, 11, 22)


def test_a_scheduled_round_is_charged_to_its_schedule() -> None:
    asked = Question("Why?", place=NOWHERE)
    round_ = replace(a_round(question=asked), id="sched:nightly@2026-11-21T03:00")

    assert Account.of(round_, NOON).scopes == (Scope.SCHEDULE_DAY, Scope.DAY, Scope.MONTH)


@pytest.mark.parametrize(
    ("round_id", "schedule"),
    [
        ("sched:nightly@2026-11-21T03:00", "nightly"),
        ("sched:a@b@2026", "a@b"),
        ("slack:sched:x@1", ""),
        ("sched:", ""),
        ("12ab", ""),
    ],
)
def test_a_round_id_names_its_schedule(round_id: str, schedule: str) -> None:
    assert schedule_of_round(round_id) == schedule


def test_december_is_followed_by_january() -> None:
    december = Account("r1", date(2026, 12, 31))

    assert december.month == (date(2026, 12, 1), date(2027, 1, 1))


def test_the_first_exceeded_cap_is_named() -> None:
    used = {Scope.USER_DAY: CapUsage(5, 2), Scope.DAY: CapUsage(90, 5), Scope.MONTH: CapUsage(99)}

    assert find_refusal(Caps(user_day=10, day=100, month=102), used, 3) is None
    assert find_refusal(Caps(day=100, month=101), used, 6) == CapRefusal(
        Scope.DAY, 100, CapUsage(90, 5)
    )
    assert find_refusal(Caps(), used, 10**9) is None


def test_the_cap_of_ones_own_channel_is_called_ones_own() -> None:
    caps = Caps(channel_day=10, own_channel=True)

    refused = find_refusal(caps, {Scope.CHANNEL_DAY: CapUsage(5)}, 6)

    assert refused
    assert refused.budget == "your budget of $0.00001 a day"


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        pytest.param(
            CapRefusal(Scope.USER_DAY, 1_000_000, CapUsage(900_000)),
            "This round may cost $0.24, but only $0.10 is left of your budget of $1.00 a day. "
            "Ask again after midnight UTC.",
            id="user",
        ),
        pytest.param(
            CapRefusal(Scope.MONTH, 50_000_000, CapUsage(50_000_001)),
            "This round may cost $0.24, but only $0.00 is left of the budget of $50.00 a "
            "month. Ask again on 1 December (UTC).",
            id="month-overdrawn",
        ),
        pytest.param(
            CapRefusal(Scope.WORKSPACE_DAY, 2_000_000, CapUsage(2_000_000)),
            "This round may cost $0.24, but only $0.00 is left of this workspace's budget of "
            "$2.00 a day. Ask again after midnight UTC.",
            id="workspace",
        ),
        pytest.param(
            CapRefusal(Scope.CHANNEL_DAY, 500_000, CapUsage(100_000, 300_000)),
            "This round may cost $0.24, but only $0.10 is left of this channel's budget of "
            "$0.50 a day. Ask again once a running round ends, or after midnight UTC.",
            id="channel-with-rounds-under-way",
        ),
    ],
)
def test_a_refusal_names_the_cap_the_rest_and_when_to_ask_again(
    refused: CapRefusal, message: str
) -> None:
    assert refused.sentence(240_000, TODAY) == message


WRITTEN = Price(0, 1e-6)  # a micro-dollar for each token written
LIMITED = Price(0, 1e-6, 100)


async def test_an_estimate_counts_all_answers_all_ballots_and_one_synthesis() -> None:
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT, GEMINI], LIMITED))

    estimate = await estimate_round(a_round(), gateway)

    assert estimate == Estimate(7 * 100, quorum_micro=2 * 100)


async def test_without_a_token_limit_a_usual_length_is_estimated() -> None:
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT, GEMINI], WRITTEN))

    estimate = await estimate_round(a_round(), gateway)

    assert estimate.micro == 4 * MAX_TEXT_TOKENS + 3 * MAX_BALLOT_TOKENS


async def test_the_most_expensive_chairman_is_estimated() -> None:
    panel = a_panel(chairmen=[DEEPSEEK, GPT])

    estimate = await estimate_round(a_round(panel), FakeGateway(prices={DEEPSEEK: LIMITED}))

    assert estimate.micro == 100


async def test_judges_read_the_other_answers_and_chairmen_read_all() -> None:
    def reads(tokens: int) -> FakeGateway:
        limits = dict.fromkeys([GPT, GEMINI], Price(0, 0, tokens))
        return FakeGateway(prices={CLAUDE: Price(1e-6, 0, 0), **limits})

    short, long = [await estimate_round(a_round(), reads(tokens)) for tokens in (0, 1_000)]

    # Two answers as a judge; two answers and two ballots as the chairman.
    assert long.micro - short.micro == 2_000 + 4_000


async def test_an_unknown_price_is_named_and_not_free() -> None:
    gateway = FakeGateway(prices={CLAUDE: LIMITED, GPT: None})

    estimate = await estimate_round(a_round(), gateway)

    assert estimate.unknown == (GPT,)
    assert estimate.micro == 3 * 100


async def test_two_members_cast_no_ballots() -> None:
    panel = a_panel(2, terms=Terms(quorum=1))
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT], LIMITED))

    assert (await estimate_round(a_round(panel), gateway)).micro == 3 * 100


def test_a_call_is_estimated_at_its_prompt_and_longest_reply() -> None:
    text = Call(a_member(), Prompt("abc", "defghi"))
    ballot = Call(a_member(), Prompt("abc", "defghi"), schema={})

    assert call_cost_micro_usd(Price(1e-6, 1e-6, 7), text) == 3 + 7
    assert call_cost_micro_usd(Price(0, 1e-6), text) == MAX_TEXT_TOKENS
    assert call_cost_micro_usd(Price(0, 1e-6), ballot) == MAX_BALLOT_TOKENS
    assert call_cost_micro_usd(FREE, ballot) == 0
