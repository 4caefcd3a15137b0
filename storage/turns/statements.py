"""What is asked of Postgres about turns, in its own words; every moment is the database's.

A row is a ticket. It waits while `begun_at` is null, and holds a turn from then on. What nobody
renews ends with its `until`, and then counts as begun for the rest of its minute.
"""

from sqlalchemy import text

# One visit at a time at each address; what is lost with the machine need not reach its disk.
ALONE = text(
    "SELECT set_config('synchronous_commit', 'off', true), "
    "pg_advisory_xact_lock(CAST(:lock AS bigint))"
)

# A ticket of ours that we no longer name was given back, or left by who waited.
RENEW = text(
    """
    UPDATE turn SET
      until = statement_timestamp() + CASE
        WHEN id = ANY(CAST(:held AS text[])) THEN CAST(:held_for AS interval)
        WHEN id = ANY(CAST(:waiting AS text[])) THEN CAST(:waiting_for AS interval)
        ELSE interval '0' END,
      begun_at = CASE
        WHEN id = ANY(CAST(:held AS text[])) THEN coalesce(begun_at, statement_timestamp())
        ELSE begun_at END
    WHERE gate = :gate AND holder = :holder AND (
      until > statement_timestamp()
      OR id = ANY(CAST(:held AS text[])) OR id = ANY(CAST(:waiting AS text[])))
    RETURNING id, begun_at IS NOT NULL AS has_begun
    """
)

ENTER = text(
    """
    INSERT INTO turn (id, gate, holder, asked_at, begun_at, until)
    SELECT id, :gate, :holder, statement_timestamp() + nth * interval '1 microsecond',
      CASE WHEN CAST(:has_begun AS boolean) THEN statement_timestamp() END,
      statement_timestamp() + CAST(:lasts AS interval)
    FROM unnest(CAST(:ids AS text[])) WITH ORDINALITY AS ticket (id, nth)
    """
)

# Who waits elsewhere and is late keeps its place for a while.
CLEAR = text(
    """
    DELETE FROM turn WHERE gate = :gate AND until <= statement_timestamp() AND CASE
      WHEN begun_at IS NOT NULL THEN begun_at <= statement_timestamp() - CAST(:window AS interval)
      ELSE holder = :holder OR until <= statement_timestamp() - CAST(:held_for AS interval) END
    """
)

# Of those that are first in line, whosever they are, each process lets in its own.
ADMIT = text(
    """
    WITH counted AS (
      SELECT count(*) FILTER (WHERE until > statement_timestamp()) AS held,
        count(*) FILTER (
          WHERE begun_at > statement_timestamp() - CAST(:window AS interval)) AS begun
      FROM turn WHERE gate = :gate AND begun_at IS NOT NULL
    ), foremost AS (
      SELECT id FROM turn
      WHERE gate = :gate AND begun_at IS NULL AND until > statement_timestamp()
      ORDER BY asked_at, id LIMIT (
        SELECT greatest(0, least(CAST(:concurrency AS bigint) - held,
          CAST(:most AS bigint) - begun)) FROM counted)
    )
    UPDATE turn SET begun_at = statement_timestamp(),
      until = statement_timestamp() + CAST(:held_for AS interval)
    WHERE holder = :holder AND id IN (SELECT id FROM foremost)
    RETURNING id
    """
)

LOOK = text(
    """
    SELECT
      count(*) FILTER (WHERE begun_at IS NOT NULL AND until > statement_timestamp()) AS under_way,
      count(*) FILTER (WHERE begun_at IS NULL AND until > statement_timestamp()) AS waiting,
      count(*) FILTER (
        WHERE begun_at IS NULL AND until > statement_timestamp() AND holder <> :holder) AS others,
      count(*) FILTER (
        WHERE begun_at > statement_timestamp() - CAST(:window AS interval)) AS begun,
      extract(epoch FROM min(begun_at) FILTER (
        WHERE begun_at > statement_timestamp() - CAST(:window AS interval))
        + CAST(:window AS interval) - statement_timestamp()) AS next_seconds
    FROM turn WHERE gate = :gate
    """
)

LEAVE = text(
    """
    UPDATE turn SET until = statement_timestamp()
    WHERE holder = :holder AND until > statement_timestamp()
    """
)
