"""SQL views for analysts: standings, rankings, rounds and the cells of bake-offs.

They hold no data. Each migration drops them first and creates them last, so that it may change
the tables that they read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What databases write differently.

    `items` and `texts` make a table of an array, with the columns `value` and `key`, which is
    `first` for the first item. `json` and `text` have what is at a path such as "terms method".
    """

    items: Callable[[str, str], str]
    texts: Callable[[str, str], str]
    first: int
    json: Callable[[str, str], str]
    text: Callable[[str, str], str]
    byte: Callable[[str, str], str]
    is_number: Callable[[str], str]


def _sqlite() -> _Dialect:
    def items(array: str, name: str) -> str:
        return f"json_each({array}) AS {name}"

    def at(document: str, path: str) -> str:
        steps = (f"[{step}]" if step.isdecimal() else f".{step}" for step in path.split())
        return f"json_extract({document}, '${''.join(steps)}')"

    def byte(data: str, at: str) -> str:
        digits = (f"substr(hex(substr({data}, {at} + 1, 1)), {nth}, 1)" for nth in (1, 2))
        high, low = (f"(instr('0123456789ABCDEF', {digit}) - 1)" for digit in digits)
        return f"({high} * 16 + {low})"

    def is_number(value: str) -> str:
        return f"({value} <> '' AND {value} NOT GLOB '*[^0-9]*')"

    return _Dialect(items, items, 0, at, at, byte, is_number)


def _postgres() -> _Dialect:
    return _Dialect(
        items=lambda array, name: (
            f"jsonb_array_elements({array}) WITH ORDINALITY AS {name}(value, key)"
        ),
        texts=lambda array, name: (
            f"jsonb_array_elements_text({array}) WITH ORDINALITY AS {name}(value, key)"
        ),
        first=1,
        json=lambda document, path: (
            f"(CAST({document} AS jsonb) #> '{{{','.join(path.split())}}}')"
        ),
        text=lambda document, path: (
            f"(CAST({document} AS jsonb) #>> '{{{','.join(path.split())}}}')"
        ),
        byte=lambda data, at: f"get_byte({data}, CAST({at} AS integer))",
        is_number=lambda value: f"({value} ~ '^[0-9]+$')",
    )


def drop_views(connection: Connection) -> None:
    """Drop the views, and any of analysts that read them."""
    cascade = " CASCADE" if connection.dialect.name == "postgresql" else ""
    for name in reversed(VIEWS):
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}{cascade}")


def create_views(connection: Connection) -> None:
    """Create the views, which must not exist."""
    dialect = _sqlite() if connection.dialect.name == "sqlite" else _postgres()
    for name, query in _queries(dialect):
        # Not a statement with parameters: JSON paths have colons and percent signs.
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {query}")


VIEWS = ("v_standing", "v_ballot", "v_round", "v_bakeoff_cell")  # in the order of creation


def _queries(dialect: _Dialect) -> Iterator[tuple[str, str]]:
    queries = (_STANDING, _ballot(dialect), _round(dialect), _bakeoff_cell(dialect))
    yield from zip(VIEWS, queries, strict=True)


_STANDING = """
SELECT standing.round_id, round.asked_at, round.panel_name AS panel, round.bakeoff,
  label.member, standing.label, standing.place, standing.share, standing.points,
  standing.max_points, standing.first_votes, standing.mean_rank
FROM standing
JOIN round ON round.id = standing.round_id
JOIN label ON label.round_id = standing.round_id AND label.label = standing.label
"""


def _ballot(dialect: _Dialect) -> str:
    """Return the query for a row for each ranking and each answer that the judge saw.

    Equal answers share their mean rank; those that were not ranked share the last places.
    """
    return f"""
WITH placed AS (
  SELECT ballot.round_id, ballot.judge, ballot.audit, ballot.pass_number,
    ranked.value AS label, place.key AS place
  FROM ballot, {dialect.items("ballot.ranking", "place")}, {dialect.texts("place.value", "ranked")}
), seen AS (
  SELECT ballot.round_id, ballot.judge, ballot.audit, ballot.pass_number,
    shown.value AS label, shown.key - {dialect.first} + 1 AS slot,
    placed.label IS NOT NULL AS ranked,
    COALESCE(placed.place, 1000000) AS place,
    COUNT(*) OVER (
      PARTITION BY ballot.round_id, ballot.judge, ballot.audit, ballot.pass_number
    ) AS answers
  FROM ballot
  CROSS JOIN {dialect.texts("ballot.shown", "shown")}
  LEFT JOIN placed ON placed.round_id = ballot.round_id AND placed.judge = ballot.judge
    AND placed.audit = ballot.audit AND placed.pass_number = ballot.pass_number
    AND placed.label = shown.value
), ranks AS (
  SELECT seen.*,
    RANK() OVER (
      PARTITION BY round_id, judge, audit, pass_number ORDER BY place
    ) + (COUNT(*) OVER (
      PARTITION BY round_id, judge, audit, pass_number, place
    ) - 1) / CAST(2 AS DOUBLE PRECISION) AS "rank"
  FROM seen
)
SELECT ranks.round_id, round.asked_at, round.panel_name AS panel, round.bakeoff,
  {dialect.text("round.panel", "terms method")} AS method,
  ranks.judge, ranks.pass_number AS pass, ranks.audit,
  ranks.audit = '' AND ranks.answers > 1 AS counted,
  label.member, ranks.label, ranks.slot, ranks.answers, ranks.ranked, ranks."rank",
  (ranks.answers - ranks."rank") / NULLIF(ranks.answers - 1, 0) AS share
FROM ranks
JOIN round ON round.id = ranks.round_id
LEFT JOIN label ON label.round_id = ranks.round_id AND label.label = ranks.label
"""  # noqa: S608 - all of it is ours


def _round(dialect: _Dialect) -> str:
    """Return the query for a row for each round; as in Round.replies, what it paid for counts."""
    columns = "round_id, cost_usd, tokens_in, tokens_out"
    return f"""
WITH reply AS (
  SELECT {columns} FROM answer WHERE origin IS NULL OR CAST(origin AS TEXT) = 'null'
  UNION ALL SELECT {columns} FROM ballot
  UNION ALL SELECT {columns} FROM spoiled_ballot
  UNION ALL SELECT {columns} FROM late_reply
  UNION ALL SELECT {columns} FROM exchange
  UNION ALL SELECT {columns} FROM synthesis WHERE reply IS NOT NULL
  UNION ALL SELECT {columns} FROM decision WHERE reply IS NOT NULL
), paid AS (
  SELECT round_id, CASE WHEN COUNT(*) = COUNT(cost_usd) THEN SUM(cost_usd) END AS cost_usd,
    SUM(tokens_in) AS tokens_in, SUM(tokens_out) AS tokens_out, COUNT(*) AS calls
  FROM reply GROUP BY round_id
), best AS (
  SELECT round_id, MIN(member) AS winner, MIN(share) AS winner_share
  FROM v_standing WHERE place = 1 AND share IS NOT NULL
  GROUP BY round_id HAVING COUNT(*) = 1
)
SELECT round.id AS round_id, round.asked_at, round.asked_by, round.chat, round.workspace,
  round.channel, round.panel_name AS panel,
  {dialect.text("round.panel", "terms method")} AS method,
  round.bakeoff, round.question, synthesis.text AS answer, synthesis.chairman,
  best.winner, best.winner_share, verdict.strength, verdict.p,
  (SELECT COUNT(*) FROM answer WHERE answer.round_id = round.id) AS answers,
  (SELECT COUNT(*) FROM ballot
    WHERE ballot.round_id = round.id AND ballot.audit = '') AS ballots,
  (SELECT COUNT(*) FROM spoiled_ballot AS spoiled WHERE spoiled.round_id = round.id) AS spoiled,
  paid.calls, paid.cost_usd, paid.tokens_in, paid.tokens_out,
  round.seconds, round.failure, round.forgotten_at
FROM round
LEFT JOIN synthesis ON synthesis.round_id = round.id
LEFT JOIN verdict ON verdict.round_id = round.id
LEFT JOIN best ON best.round_id = round.id
LEFT JOIN paid ON paid.round_id = round.id
"""  # noqa: S608 - all of it is ours


def _bakeoff_cell(dialect: _Dialect) -> str:
    """Return the query for a row for each question of a bake-off and each model of its panel.

    Grades are in `record`, as single-precision numbers: a row for each member, whose columns are
    named in `source.shape`, as council.bakeoffs.record_arrays packs them.
    """
    number = "substr(round.id, length(round.bakeoff) + 2)"
    data = "graded.numbers"
    bits = " + ".join(
        f"CAST({dialect.byte(data, f'(4 * graded.cell + {at})')} AS BIGINT) * {256**at}"
        for at in range(4)
    )
    exponent = "((bits >> 23) & 255)"
    return f"""
WITH graded AS (
  SELECT record.round_id, member.value AS member, field.value AS field, record.numbers,
    (member.key - {dialect.first}) * (
      SELECT COUNT(*) FROM {dialect.texts(dialect.json("source.shape", "2 0 2"), "counted")}
    ) + field.key - {dialect.first} AS cell
  FROM record
  JOIN source ON source.id = record.source_id
  CROSS JOIN {dialect.texts(dialect.json("source.shape", "0"), "member")}
  CROSS JOIN {dialect.texts(dialect.json("source.shape", "2 0 2"), "field")}
  WHERE source.bakeoff <> '' AND field.value IN ('correct', 'grade')
), packed AS (
  SELECT round_id, member, field, {bits} AS bits FROM graded
), grade AS (
  SELECT round_id, member, field, CASE
    WHEN {exponent} = 255 THEN NULL
    WHEN {exponent} < 90 THEN 0.0
    ELSE CAST(8388608 + (bits & 8388607) AS DOUBLE PRECISION)
      / (CAST(1 AS BIGINT) << CAST(150 - {exponent} AS INTEGER))
  END AS value
  FROM packed
)
SELECT round.bakeoff, bakeoff.suite, bakeoff.suite_version, bakeoff.panel_name AS panel,
  bakeoff.at AS run_at,
  CASE WHEN {dialect.is_number(number)} THEN CAST({number} AS INTEGER) END AS number,
  source.category, round.question, round.id AS round_id, member.key AS member,
  answer.text AS answer, absence.reason AS absence,
  standing.place, standing.share, standing.points, standing.max_points,
  CAST(correct.value AS INTEGER) AS correct, grade.value AS grade,
  answer.cost_usd, answer.seconds, answer.tokens_out
FROM round
LEFT JOIN bakeoff ON bakeoff.id = round.bakeoff
CROSS JOIN (
  SELECT asked.id, {dialect.text("seat.value", "key")} AS key
  FROM round AS asked, {dialect.items(dialect.json("asked.panel", "members"), "seat")}
) AS member
LEFT JOIN answer ON answer.round_id = round.id AND answer.member = member.key
LEFT JOIN absence ON absence.round_id = round.id AND absence.member = member.key
  AND absence.role = 'answer'
LEFT JOIN v_standing AS standing
  ON standing.round_id = round.id AND standing.member = member.key
LEFT JOIN record ON record.round_id = round.id
LEFT JOIN source ON source.id = record.source_id
LEFT JOIN grade AS correct ON correct.round_id = round.id
  AND correct.member = member.key AND correct.field = 'correct'
LEFT JOIN grade ON grade.round_id = round.id
  AND grade.member = member.key AND grade.field = 'grade'
WHERE round.bakeoff <> '' AND member.id = round.id
"""  # noqa: S608 - all of it is ours
