"""What is asked of Procrastinate's tables in one statement each, so that nothing comes between.

A piece of work is a job whose two locks are its queue and its name: one of it waits at most, and
one is done. Each time it is given back it becomes a new job, which whoever listens hears of.
"""

TASK = "council"  # all work is one task of Procrastinate's

# Whoever begins the same work waits, so that what the other has begun is seen.
WAIT_IN_LINE = "SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 12))"

BEGIN = """
WITH ended AS (
    DELETE FROM procrastinate_jobs
    WHERE lock = %(lock)s::text AND status NOT IN ('todo', 'doing')
)
INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)
SELECT %(queue)s::text, %(task)s::text, %(lock)s::text, %(lock)s::text, %(args)s::jsonb
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs
    WHERE lock = %(lock)s::text
      AND (status = 'todo' OR status = 'doing' AND NOT abort_requested)
)
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
RETURNING id
"""

IS_BEGUN = """
SELECT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status IN ('todo', 'doing')
) AS is_begun
"""

# How a piece of work stands: what is under way comes before what is left.
STANDING = """
SELECT job.status::text AS status, job.args -> 'fault' AS fault,
       coalesce(extract(epoch FROM now() - max(event.at)), 0)::float AS seconds
FROM procrastinate_jobs job
LEFT JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'started'
WHERE job.lock = %(lock)s::text
GROUP BY job.id
ORDER BY job.status = 'doing' DESC, job.status = 'todo' DESC, job.id DESC
LIMIT 1
"""

STOP = """
WITH waiting AS (
    DELETE FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
UPDATE procrastinate_jobs SET abort_requested = true
WHERE lock = %(lock)s::text AND status = 'doing'
RETURNING id
"""

# Of these jobs, those that are still being done.
STILL_DONE = """
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(ids)s::bigint[]) AND status = 'doing'
"""

DONE = "DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'"

LEFT = """
UPDATE procrastinate_jobs
SET status = 'failed', abort_requested = false,
    args = args || jsonb_build_object('fault', %(fault)s::jsonb)
WHERE id = %(id)s::bigint AND status = 'doing'
"""

# What was to be stopped is not begun again, nor what one process took for itself alone.
GIVEN_BACK = """
WITH given AS (
    DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'
    RETURNING *
)
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, attempts + %(tries)s::integer
FROM given WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
"""

TRY_AGAIN = """
DELETE FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status = 'failed' AND attempts < %(most)s::integer
"""

KNOWN = """
SELECT args ->> 'name' AS name FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status IN ('todo', 'doing', 'failed')
"""

# The turn of a queue's sweep in a slot of time goes to whoever comes first.
TURN = """
WITH turn AS (
    INSERT INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
    VALUES ('sweep', %(queue)s::text,
            floor(extract(epoch FROM now()) / %(every)s::float)::bigint)
    ON CONFLICT DO NOTHING
    RETURNING defer_timestamp
), before AS (
    DELETE FROM procrastinate_periodic_defers old USING turn
    WHERE old.task_name = 'sweep' AND old.periodic_id = %(queue)s::text
      AND old.defer_timestamp <> turn.defer_timestamp
)
SELECT count(*) > 0 AS is_ours,
       now() - pg_postmaster_start_time() >= make_interval(secs => %(settle)s::float) AS is_settled
FROM turn
"""

# Work of processes that are heard of no more. Its tries are counted while they follow each other
# quickly: what has been done for a while does not end the process that does it.
_STALLED = """
WITH stalled AS (
    SELECT job.id, job.attempts,
           CASE WHEN (SELECT max(event.at) FROM procrastinate_events event
                      WHERE event.job_id = job.id AND event.type = 'started')
                     < now() - interval '10 minutes'
                THEN 1 ELSE job.attempts + 1 END AS tries
    FROM procrastinate_jobs job
    LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND job.queue_name = %(queue)s::text
      AND (worker.id IS NULL
           OR worker.last_heartbeat < now() - make_interval(secs => %(stalled)s::float))
    FOR UPDATE OF job SKIP LOCKED
)
"""

LEAVE_POISONED = (
    _STALLED
    + """
UPDATE procrastinate_jobs job
SET status = 'failed', attempts = stalled.tries, abort_requested = false,
    args = job.args || jsonb_build_object('fault', %(fault)s::jsonb)
FROM stalled WHERE job.id = stalled.id AND stalled.tries >= %(most)s::integer
  AND NOT job.abort_requested
RETURNING job.args ->> 'name' AS name
"""
)

# Both parts of it stand here.
TAKE_OVER = (
    _STALLED  # noqa: S608
    + """, gone AS (
    DELETE FROM procrastinate_jobs job USING stalled WHERE job.id = stalled.id
    RETURNING job.*, stalled.tries
)
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, tries
FROM gone WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
RETURNING args ->> 'name' AS name, attempts
"""
)

# Whoever wants it now need not wait for a process that is heard of no more.
FREE = """
DELETE FROM procrastinate_jobs job
WHERE job.lock = %(lock)s::text AND job.status = 'doing'
  AND NOT EXISTS (
      SELECT FROM procrastinate_workers worker
      WHERE worker.id = job.worker_id
        AND worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
  )
  AND now() - pg_postmaster_start_time() >= make_interval(secs => %(settle)s::float)
RETURNING id
"""

TAKE_ALONE = """
INSERT INTO procrastinate_jobs
    (queue_name, task_name, lock, queueing_lock, args, status, worker_id)
SELECT %(queue)s::text, %(task)s::text, %(lock)s::text, %(lock)s::text, %(args)s::jsonb,
       'doing', %(worker)s::bigint
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
ON CONFLICT (lock) WHERE status = 'doing' DO NOTHING
RETURNING id
"""

OWN = """
SELECT id FROM procrastinate_jobs
WHERE status = 'doing' AND worker_id = ANY(%(workers)s::bigint[])
"""

# A process that stood still may have been struck off meanwhile.
HEARTBEAT = """
INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE
VALUES (%(worker)s::bigint, now())
ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
"""

LIVING = """
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%(workers)s::bigint[])
"""

FORGET_WORKERS = """
DELETE FROM procrastinate_workers WHERE last_heartbeat < now() - interval '1 day'
"""

# All work there is, by queue, and how it stands.
COUNTED = """
SELECT job.queue_name AS queue,
       CASE WHEN job.status = 'todo' THEN 'waiting'
            WHEN worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
            THEN 'doing' ELSE 'stalled' END AS state,
       count(*)::integer AS works
FROM procrastinate_jobs job
LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
WHERE job.status IN ('todo', 'doing')
GROUP BY 1, 2
"""
