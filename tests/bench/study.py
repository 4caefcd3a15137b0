"""How quick `council lab study verify` is on 300 questions × 4 arms, start-up included.

The members write about 150 words each; the replies are stored first, by fake models.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.research.studies import recompute
from bot.research.study_files import Header, StudyFolder, make_study, read_study_file
from council.answers import Call, Reply, Role
from council.pipeline.run import versions
from council.randomness import random_fraction
from council.registry import NO_PLUGINS
from council.research.study_runner import LiveCalls, StudyRun, own_versions
from tests.bot.research.study_folders import questions, study_toml
from tests.builders import ASKED_AT, KEYS, a_member
from tests.council.research.study_builders import Pupils

TARGET_SECONDS = 60.0
WORDS = ("look", "at", "each", "of", "the", "digits", "in", "turn", "and", "write", "it", "down")


@dataclass(eq=False)
class Writers(Pupils):
    """Members that are right on three questions of five, in about 150 words."""

    async def complete(self, call: Call) -> Reply:
        self.asked.clear()
        reply = await super().complete(call)
        if call.role is Role.BALLOT:
            return reply
        seed = f"{call.member.key} {call.prompt.user}"
        lengths = (6 + int(6 * random_fraction(seed, str(n))) for n in range(16))
        prose = ". ".join(" ".join(WORDS[:length]) for length in lengths)
        number = call.prompt.user.partition("What is ")[2].partition("?")[0]
        is_right = random_fraction(seed, "right") < 0.6
        return replace(reply, text=f"{prose}.\nAnswer: {number if is_right else 0}")


async def fill(folder: Path, count: int, members: int) -> None:
    """Store a finished study in a folder."""
    (folder / "q.jsonl").write_text(questions(count))
    (folder / "study.toml").write_text(study_toml(KEYS[:members]))
    file = read_study_file(folder / "study.toml")
    gateway = Writers(costs=dict.fromkeys(KEYS, 0.0001), more=0.0001)
    seats = {key: a_member(key) for key in KEYS[:members]}
    found = versions(gateway) | own_versions()
    header = Header(file.digests, seats, found, dict.fromkeys(seats), ASKED_AT)
    study, stored = make_study(file, header, NO_PLUGINS), StudyFolder(folder / "out")
    (folder / "out").mkdir()
    replies = stored.begin(file, header)
    live = LiveCalls(study, gateway, [], lambda call: stored.save(replies, call))
    await StudyRun(study, [], live).run(8)
    _, document = await recompute(study, replies)
    stored.write_result(document)
    arms = document["panels"]["house"]["arms"]
    print(", ".join(f"{line['arm']} {line['right']} of {line['questions']}" for line in arms))


def measure(count: int, members: int) -> float:
    """Return the seconds that one verification takes."""
    with TemporaryDirectory(prefix="council-bench-") as name:
        folder = Path(name)
        asyncio.run(fill(folder, count, members))
        size = (folder / "out/replies.jsonl").stat().st_size / 1e6
        environment = {**os.environ, "HOME": name, "COUNCIL_DATA_DIR": str(folder / "data")}
        command = [sys.executable, "-m", "bot", "lab", "study", "verify", str(folder / "out")]
        started = time.perf_counter()
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    if ran.returncode:
        raise RuntimeError(ran.stdout + ran.stderr)
    print(f"{count} questions, {members} members, {size:.1f} MB: {seconds:.1f} s, {used:.1f} s CPU")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.study", description=__doc__)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--members", type=int, default=5)
    wanted = parser.parse_args()
    if measure(wanted.questions, wanted.members) >= TARGET_SECONDS:
        sys.exit(f"It should take less than {TARGET_SECONDS:g} s.")


if __name__ == "__main__":
    main()
