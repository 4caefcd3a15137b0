"""Ids of bake-offs and their rounds, wherever an id is parsed, quoted or used in a name."""

import pytest

from bot.bakeoffs.commands.bakeoffs import find_bakeoff
from bot.bakeoffs.render.bakeoffs import failure_hint
from bot.chat import IncomingMessage
from bot.commands.registry import Invocation
from bot.render.formatting import file_name
from bot.web.auth import FormError, PageSigner
from council.bakeoffs.models import BakeoffProgress, split_round_id
from council.budget_caps import schedule_of_round
from tests.bot.app_fakes import ANA, COMMANDS, an_app
from tests.bot.bakeoffs.fakes import HERE, a_bakeoff, store_bakeoff

SLOT = "sched:0123456789@2026-11-23T09:00"
NAMED = "sched:weekly-sql@2026-11-23T09:00"
IDS = pytest.mark.parametrize("id_", ["bo:0123456789ab", SLOT, NAMED])


@IDS
def test_a_rounds_id_tells_its_bake_off_and_commands_read_it(id_: str) -> None:
    assert split_round_id(a_bakeoff(id_=id_).round_id(12)) == (id_, 12)
    for name in ("show", "cancel", "forget"):
        parsed = COMMANDS.parse(f"/council {name} {id_}.12")
        assert parsed == Invocation(COMMANDS[name], {"round": f"{id_}.12"})


def test_a_scheduled_rounds_money_counts_under_its_schedule() -> None:
    assert schedule_of_round(f"{SLOT}.12") == "0123456789"
    assert schedule_of_round(f"{NAMED}.12") == "weekly-sql"
    assert schedule_of_round("bo:0123456789ab.12") == ""


@IDS
def test_a_file_is_named_so_that_every_system_takes_it(id_: str) -> None:
    name = file_name(f"{id_}.1", "md")

    assert not set(name) & set(':@/\\<>"|?*')
    assert name.startswith("council-")
    assert name.endswith(".1.md")
    assert file_name("0123456789ab", "md") == "council-0123456789ab.md"


@IDS
def test_a_signed_link_opens_its_round_alone(id_: str) -> None:
    seals = PageSigner(b"key")

    seals.verify_link(f"{id_}.1", seals.link_key(f"{id_}.1", 60))

    with pytest.raises(FormError):
        seals.verify_link(f"{id_}.11", seals.link_key(f"{id_}.1", 60))


async def test_a_scheduled_run_is_found_by_its_suite_and_no_message_has_its_id() -> None:
    app = an_app()
    run = await store_bakeoff(app, a_bakeoff(id_=SLOT))

    found = await find_bakeoff(app, IncomingMessage("", ANA, HERE, ""), run.typed_name)
    hint = failure_hint(BakeoffProgress(run), "The cap is reached.", None)

    assert found.id == SLOT
    assert run.typed_name in hint.text
    assert SLOT not in hint.text
