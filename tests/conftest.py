"""What every test has: a closed network, litellm's offline switches, and a folder of its own."""

import gc
import os
import re
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from coverage import Coverage
from filelock import FileLock
from hypothesis import settings
from pytest_socket import _remove_restrictions, socket_allow_hosts
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from bot.settings import load_settings

pytest_plugins = ["tests.postgres.fixtures"]

load_settings(Path("/nonexistent/.env"))  # sets litellm's offline switches before any import of it

# A shell ignores Ctrl-C for what it runs in the background, and whatever that starts would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No example is timed: the machine may be busy. Each test is run again with every change.
settings.register_profile("house", deadline=None, max_examples=15)
settings.register_profile("nightly", deadline=None, max_examples=500)
settings.load_profile("house")

# Their files share a product, and a fake that is served only while they run: no others between.
# Those of the gateway share the import of litellm. The longest come first.
TOGETHER = (
    "tests/bot/slack",
    "tests/bot/discord",
    "tests/bot/web/browser",
    "tests/council/gateways/litellm",
)
# Of the council's tests, those of the gateways and long ones whose lines others cover: tracing
# doubles their time.
UNTRACED = re.compile(
    r"/gateways/|(aggregation|hostile_lengths|injection_sets|power|standings_properties"
    r"|verdict_position_judges)\.py"
)
LOOPBACK = ["127.0.0.1", "::1", "localhost"]


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A scheduler that runs the tests of a file, or of a folder in TOGETHER, in one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def scope_of(nodeid: str) -> str:
    """Return the file of a test, or its folder if the folder is in TOGETHER."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect in one worker before the others, which then read the bytecode it has cached.

    What is collected stays to the end, so the garbage collector need not look at it.
    """
    gc.disable()
    try:
        if not hasattr(session.config, "workerinput"):
            return (yield)
        shared = Path(session.config.option.basetemp).parent
        is_cached = shared / "bytecode-is-cached"
        with FileLock(shared / "bytecode.lock"):
            if not is_cached.exists():
                collected = yield
                is_cached.touch()
                return collected
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests: the council's own first, then the folders in TOGETHER, then small files.

    A cached function counts as covered only where it is called first, and no worker is left with a
    folder, or with the one story of a process, at the end.
    """
    many = Counter(scope_of(item.nodeid) for item in items)
    first = {folder: at - len(TOGETHER) for at, folder in enumerate(TOGETHER)}

    def place(item: pytest.Item) -> tuple[bool, int]:
        scope = scope_of(item.nodeid)
        return (not is_councils_own(item), first.get(scope, many[scope]))

    items.sort(key=place)


def is_councils_own(item: pytest.Item) -> bool:
    """Return whether a test counts for the coverage of the council, which omits the gateways."""
    return item.nodeid.startswith("tests/council/") and not UNTRACED.search(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Stop measuring coverage at the first test that is not the council's own."""
    plugin = item.config.pluginmanager.getplugin("_cov")
    controller = plugin.cov_controller if plugin else None
    if controller and controller.started and not is_councils_own(item):
        controller.pause()
        # In a worker, pytest-cov has started another one underneath.
        while running := Coverage.current():
            running.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    """Run the tests of one product one after another, so that it is started once."""
    config.option.loadscopereorder = False  # they are in order
    return Together(config, log)


@pytest.fixture(autouse=True)
def _closed_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Allow the network only to tests on the real local models, which may be downloaded."""
    if not request.node.get_closest_marker("local_models"):
        socket_allow_hosts(LOOPBACK, allow_unix_socket=True)
    yield
    _remove_restrictions()


@pytest.fixture(autouse=True)
def _local_models(request: pytest.FixtureRequest) -> None:
    """Skip rounds on the real local models where they cannot run, unless they are required."""
    if not request.node.get_closest_marker("local_models"):
        return
    from council.gateways.local.server import unsupported_reason

    why = unsupported_reason()
    if why and os.environ.get("COUNCIL_REQUIRE_LOCAL") == "1":
        pytest.fail(f"COUNCIL_REQUIRE_LOCAL=1, but: {why}")
    if why:
        pytest.skip(why)
