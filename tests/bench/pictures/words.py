"""The one round of all pictures: what each seat answers, ranks and says, and what it costs."""

import json
from collections.abc import Mapping

SEATS = {
    "claude": ("Claude Sonnet 4.6", "anthropic"),
    "gpt": ("GPT-5.1", "openai"),
    "gemini": ("Gemini 3 Pro", "google"),
    "mistral": ("Mistral Large", "mistral"),
    "qwen": ("Qwen 3", "qwen"),
    "grok": ("Grok 4", "xai"),
}
OUTSIDE = "grok"  # ranks, and does not answer
MEMBERS = tuple(seat for seat in SEATS if seat != OUTSIDE)
PRICES = {  # dollars a million tokens, in and out
    "claude": (3.0, 15.0),
    "gpt": (1.25, 10.0),
    "gemini": (2.0, 12.0),
    "mistral": (0.5, 1.5),
    "qwen": (0.2, 0.6),
    "grok": (3.0, 15.0),
}

ANSWERS = {
    "claude": """\
Keep the queue **in Postgres** and take jobs with `SELECT … FOR UPDATE SKIP LOCKED`. \
At 2,000 jobs a second a single well-kept instance has room to spare, if three things hold:

- workers take jobs in batches of 50 to 100, not one by one;
- finished jobs are deleted from a partition that is later dropped, so that vacuum keeps up;
- `LISTEN/NOTIFY` wakes idle workers, with a slow poll behind it.

You gain what no broker gives: the job and the change that caused it commit together. \
Measure dead tuples and the age of the oldest job; move only when one of them keeps growing.""",
    "gpt": """\
Use a Postgres-backed queue such as **pgmq** or **River**, rather than writing one. \
Both rest on `SKIP LOCKED`, and both have solved retries, visibility timeouts and archiving. \
Batch the reads, keep payloads under a kilobyte, and give the queue its own autovacuum settings. \
At 2,000 a second you will write some 10 MB of WAL a second, so check replication lag first.""",
    "gemini": """\
2,000 jobs a second is 172 million a day, and each is at least three row versions. \
That is within reach of Postgres, but bloat becomes the work of the person on call. \
I would start on Postgres with *hourly partitions* and an outbox, so that moving to **NATS \
JetStream** later changes one consumer and no producer.""",
    "mistral": """\
Stay on Postgres and **benchmark your own job first**: a table with `SKIP LOCKED` takes several \
thousand short jobs a second on ordinary hardware. \
Give the workers their own connection pool, and alert on the age of the oldest job.""",
    "qwen": """\
Add **Redis Streams**. It handles more than 100,000 messages a second on one core, and \
consumer groups give acknowledgement and redelivery. \
Postgres stays the source of truth; an outbox table feeds the stream.""",
}

# Each judge's order of the others, best first, and its reason.
REASONS = {
    "claude": (
        ("gpt", "gemini", "mistral", "qwen"),
        "Response {gpt} reuses what others have hardened and names the WAL it will cost. "
        "Response {gemini} counts honestly, yet plans for a move before one is needed. "
        "Response {qwen} adds a system that the question rules out.",
    ),
    "gpt": (
        ("claude", "gemini", "mistral", "qwen"),
        "Response {claude} says how to keep vacuum ahead and when to leave, which is what fails "
        "in practice. Response {gemini} is right about bloat but stops short of how to take jobs.",
    ),
    "gemini": (
        ("claude", "gpt", "mistral", "qwen"),
        "Response {claude} is complete: batches, partitions, wake-up and what to watch. "
        "Response {gpt} is shorter and safe. "
        "Response {qwen} does not answer for a house that runs only Postgres.",
    ),
    "mistral": (
        ("claude", "gemini", "gpt", "qwen"),
        "Response {claude} can be put to work today and says what to measure. "
        "Response {gemini} sizes the load before it advises.",
    ),
    "qwen": (
        ("claude", "gemini", "mistral", "gpt"),
        "Response {claude} is practical, down to the size of a batch. "
        "Response {gemini} leaves a way out. "
        "Response {gpt} leans on a library without saying what it costs.",
    ),
    "grok": (
        ("claude", "gpt", "gemini", "mistral", "qwen"),
        "Response {claude} names what breaks first and how to see it coming. "
        "Response {gpt} is the least work. Response {qwen} ignores the one condition.",
    ),
}

SYNTHESIS = """\
**Stay on Postgres.** Take jobs with `FOR UPDATE SKIP LOCKED` in batches of 50 to 100; 2,000 a \
second is within reach of one instance, and a job then commits together with the change that \
caused it.

What decides whether it lasts is bloat, not speed:

1. Partition the job table by the hour and drop old partitions instead of deleting rows.
2. Give the queue its own autovacuum settings, and keep payloads under a kilobyte.
3. Wake workers with `LISTEN/NOTIFY`, with a slow poll behind it.

A library such as pgmq or River spares you writing retries and timeouts. Watch the age of the \
oldest job, dead tuples and replication lag; put an outbox in front now, so that a broker can \
take over later without touching a producer."""


def chair_reply(letters: Mapping[str, str]) -> str:
    """Return the synthesis and the object after it; `letters` are the answers' labels by author."""
    positions = [
        {"labels": [letters["claude"]], "says": "a single well-kept instance has room to spare"},
        {"labels": [letters["qwen"]], "says": "Add Redis Streams"},
    ]
    later = "moving to NATS JetStream later changes one consumer and no producer"
    trailer = {
        "drawn_on": [letters[author] for author in ("claude", "gpt", "gemini")],
        "departs": False,
        "why": "",
        "agreed": ["Postgres can carry 2,000 jobs a second."],
        "disputed": [{"point": "Is a broker needed now?", "positions": positions}],
        "unique": [{"label": letters["gemini"], "point": later}],
        "open": ["How long may a job wait?"],
    }
    return f"{SYNTHESIS}\n{json.dumps(trailer)}"
