"""Which places share a channel."""

from dataclasses import replace

import pytest

from council.places import Place

HERE = Place("slack", "T1", "C1", "1.2")


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        pytest.param(replace(HERE, thread=None, private=True), True, id="another-thread"),
        pytest.param(replace(HERE, channel="C2"), False, id="another-channel"),
        pytest.param(replace(HERE, workspace="T2"), False, id="another-workspace"),
        pytest.param(replace(HERE, chat="discord"), False, id="another-chat"),
    ],
)
def test_a_thread_belongs_to_its_channel(other: Place, shared: bool) -> None:
    assert HERE.shares_channel(other) is shared
