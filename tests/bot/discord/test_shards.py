"""Discord shards: which process receives a server, and what is stored about it."""

import pytest

from bot.discord.shards import ONLY_SHARD, Shard, ShardQueues, shard_for
from bot.ports import SHOW, Job, job_for, queue_for
from council.places import Place

SERVER = "1000000000000000001"
IN_SERVER = Place("discord", SERVER, "C1")


def test_each_server_is_served_by_one_shard() -> None:
    shards = [Shard(number, 3) for number in range(3)]

    for server in map(str, range(10**18, 10**18 + 2**24, 2**22)):
        (hears,) = [shard for shard in shards if shard.serves(server)]
        assert hears.number == (int(server) >> 22) % 3


def test_direct_messages_are_served_by_the_first_shard() -> None:
    assert Shard(0, 3).serves("")
    assert not Shard(1, 3).serves("")
    assert ONLY_SHARD.serves(SERVER)


@pytest.mark.parametrize(
    ("name", "shard"),
    [
        pytest.param("0/1", Shard(0, 1), id="the-only-one"),
        pytest.param("2/16", Shard(2, 16), id="one-of-many"),
        pytest.param("3/3", None, id="one-too-many"),
        pytest.param("0/0", None, id="none"),
        pytest.param("all", None, id="a-word-of-another-version"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_shard_is_read_from_the_name_of_its_work(name: str, shard: Shard | None) -> None:
    assert Shard.read(name) == shard
    assert shard is None or str(shard) == name


@pytest.mark.parametrize(
    ("place", "owner"),
    [
        pytest.param(Place("slack", "T1", "C1"), "slack", id="slack"),
        pytest.param(IN_SERVER, f"discord {shard_for(SERVER, 4)}/4", id="a-server"),
        pytest.param(Place("discord", "", "D1"), "discord 0/4", id="direct-messages"),
        pytest.param(Place("web"), "web", id="the-page"),
        pytest.param(Place("terminal"), "web", id="the-command-line"),
        pytest.param(Place(""), "web", id="of-old"),
    ],
)
def test_a_delivery_waits_in_the_queue_of_its_shard_or_chat(place: Place, owner: str) -> None:
    queues = [ShardQueues(shards=4)]

    assert queue_for(place, queues) == owner
    assert job_for(SHOW, place, "r1", queues) == Job(f"show {owner}", "r1")
