"""Write questions with answers that code can check, as a suite: `make_questions.py [N] > FILE`.

The same seed gives the same questions in every version of Python. Twelve kinds take turns.
"""

import json
import sys
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from hashlib import sha256
from itertools import pairwise

SEED = "council study 1"
QUESTIONS = 300
END = " End with a line that says 'Answer: ' and the answer alone."
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ines", "Jon")
WORDS = (
    "amber",
    "basket",
    "copper",
    "dragon",
    "ember",
    "fossil",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "lantern",
    "marble",
    "needle",
    "orchid",
    "pepper",
    "quiver",
    "ribbon",
    "saddle",
    "timber",
    "urchin",
    "velvet",
    "walnut",
    "yonder",
    "zephyr",
    "anchor",
    "barrel",
    "candle",
    "dagger",
    "engine",
    "falcon",
    "goblet",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Draw:
    """Draws from a seed."""

    def __init__(self, seed: str) -> None:
        self.seed, self.count = seed, 0

    def number(self, low: int, high: int) -> int:
        """Return a whole number from low to high."""
        self.count += 1
        digest = sha256(f"{self.seed} {self.count}".encode()).hexdigest()
        return low + int(digest, 16) % (high - low + 1)

    def some(self, items: Sequence[str], count: int) -> list[str]:
        """Return so many different items in random order."""
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def day(self) -> date:
        """Return a day of this century."""
        return date(2001, 1, 1) + timedelta(days=self.number(0, 18_000))


Question = tuple[str, str, str]  # text, answer, grading


def shop(draw: Draw) -> Question:
    """Return a bill in whole cents."""
    (name,) = draw.some(NAMES, 1)
    pens, books, cards = draw.number(3, 19), draw.number(2, 9), draw.number(4, 24)
    pen, book, card = draw.number(35, 295), draw.number(450, 2450), draw.number(60, 190)
    paid, total = 50_000, pens * pen + books * book + cards * card
    return (
        f"{name} buys {pens} pens at {pen} cents each, {books} books at {book} cents each and "
        f"{cards} cards at {card} cents each, and pays with {paid} cents. "
        "How many cents are the change?",
        str(paid - total),
        "number",
    )


def tank(draw: Draw) -> Question:
    """Return the time that two taps and a leak take."""
    a, b, leak = draw.number(7, 23), draw.number(8, 31), draw.number(2, 6)
    minutes = draw.number(13, 79)
    litres = (a + b - leak) * minutes
    return (
        f"One tap fills a tank with {a} litres a minute, another with {b} litres a minute, and a "
        f"leak loses {leak} litres a minute. The empty tank holds {litres} litres. After how many "
        "minutes is it full?",
        str(minutes),
        "number",
    )


def discount(draw: Draw) -> Question:
    """Return a price after two discounts, in cents."""
    first, second = 5 * draw.number(2, 9), 10 * draw.number(1, 4)
    base = 1000 * draw.number(3, 47)
    price = base * (100 - first) * (100 - second) // 10_000
    return (
        f"A coat costs {base} cents. The price falls by {first} %, and the new price by another "
        f"{second} %. How many cents does the coat cost now?",
        str(price),
        "number",
    )


def weekday(draw: Draw) -> Question:
    """Return the weekday some days after another."""
    start, days = draw.day(), draw.number(40, 900)
    then = start + timedelta(days=days)
    return (
        f"{start.isoformat()} is a {DAYS[start.weekday()]}. "
        f"Which day of the week is {days} days later?",
        DAYS[then.weekday()],
        "exact",
    )


def span(draw: Draw) -> Question:
    """Return the days between two dates."""
    start, days = draw.day(), draw.number(45, 800)
    then = start + timedelta(days=days)
    return (
        f"How many days are there from {start.isoformat()} to {then.isoformat()}? Count the last "
        "day and not the first, by the Gregorian calendar.",
        str(days),
        "number",
    )


def units(draw: Draw) -> Question:
    """Return a sum of lengths in one unit."""
    km, m, cm, mm = (draw.number(1, n) for n in (9, 899, 95, 9))
    times = draw.number(2, 8)
    total = times * (km * 1_000_000 + m * 1_000 + cm * 10 + mm)
    return (
        f"A cable has {km} km, {m} m, {cm} cm and {mm} mm. "
        f"How many millimetres do {times} such cables have together?",
        str(total),
        "number",
    )


def clock(draw: Draw) -> Question:
    """Return a time of day after some minutes."""
    start, minutes = draw.number(0, 1439), draw.number(200, 5000)
    end = (start + minutes) % 1440
    return (
        f"A clock with 24 hours shows {start // 60:02}:{start % 60:02}. What does it show "
        f"{minutes} minutes later? Write it as HH:MM.",
        f"{end // 60:02}:{end % 60:02}",
        "exact",
    )


def alphabet(draw: Draw) -> Question:
    """Return a word by its place in alphabetical order."""
    count = draw.number(8, 14)
    words, place = draw.some(WORDS, count), draw.number(3, count - 2)
    return (
        f"Sort these words from A to Z: {', '.join(words)}. "
        f"Which word is number {place} from the start?",
        sorted(words)[place - 1],
        "exact",
    )


def median(draw: Draw) -> Question:
    """Return the middle of an odd count of numbers."""
    numbers = [draw.number(100, 999) for _ in range(2 * draw.number(4, 8) + 1)]
    return (
        f"What is the median of {', '.join(map(str, numbers))}?",
        str(sorted(numbers)[len(numbers) // 2]),
        "number",
    )


def letters(draw: Draw) -> Question:
    """Return how often a letter occurs."""
    words = draw.some(WORDS, draw.number(6, 10))
    (letter,) = draw.some("aelnrt", 1)
    return (
        f"How often does the letter {letter} occur in: {' '.join(words)}?",
        str("".join(words).count(letter)),
        "number",
    )


def multiples(draw: Draw) -> Question:
    """Return how many numbers of a range are multiples of one number and not of another."""
    low, size = draw.number(10, 300), draw.number(150, 700)
    one, other = draw.number(3, 9), draw.number(10, 14)
    found = [n for n in range(low, low + size + 1) if n % one == 0 and n % other]
    return (
        f"How many whole numbers from {low} to {low + size}, both included, are multiples of "
        f"{one} and not multiples of {other}?",
        str(len(found)),
        "number",
    )


def queue(draw: Draw) -> Question:
    """Return who stands in a place of a queue; each clue puts one person behind another."""
    people, place = draw.some(NAMES, 6), draw.number(2, 5)
    clues = [f"{behind} stands directly behind {front}" for front, behind in pairwise(people)]
    return (
        f"Six people stand in a queue. {'. '.join(draw.some(clues, len(clues)))}. "
        f"Who is number {place} from the front?",
        people[place - 1],
        "exact",
    )


KINDS: tuple[Callable[[Draw], Question], ...] = (
    shop,
    weekday,
    letters,
    queue,
    units,
    clock,
    median,
    discount,
    alphabet,
    span,
    multiples,
    tank,
)


def main() -> None:
    """Write as many questions as asked for, one JSON object a line."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        text, answer, grading = kind(Draw(f"{SEED} {number}"))
        row = {"question": text + END, "category": kind.__name__}
        sys.stdout.write(f"{json.dumps(row | {'answer': answer, 'grading': grading})}\n")


if __name__ == "__main__":
    main()
