-- Statements of the job queue, one for each change, as Procrastinate writes its own:
-- a name, what to know about it, and the SQL. A name in braces stands for that statement.

-- lock_job --
-- Processes that enqueue the same job wait for each other, so that each sees the other's row.
SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 12))

-- lock_rows --
-- A worker that takes the job at this moment commits before the next statement reads the row.
SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text FOR UPDATE

-- enqueue --
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

-- is_queued --
SELECT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status IN ('todo', 'doing')
) AS is_queued

-- status --
-- The status of a job: a running row comes before a failed one.
SELECT job.status::text AS status, job.args -> 'fault' AS fault,
       coalesce(extract(epoch FROM now() - max(event.at)), 0)::float AS seconds
FROM procrastinate_jobs job
LEFT JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'started'
WHERE job.lock = %(lock)s::text
GROUP BY job.id
ORDER BY job.status = 'doing' DESC, job.status = 'todo' DESC, job.id DESC
LIMIT 1

-- stop --
WITH waiting AS (
    DELETE FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
UPDATE procrastinate_jobs SET abort_requested = true
WHERE lock = %(lock)s::text AND status = 'doing'
RETURNING id

-- still_running --
-- Which of these jobs still run.
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(ids)s::bigint[]) AND status = 'doing'

-- delete_finished --
DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'

-- mark_failed --
UPDATE procrastinate_jobs
SET status = 'failed', abort_requested = false,
    args = args || jsonb_build_object('fault', %(fault)s::jsonb)
WHERE id = %(id)s::bigint AND status = 'doing'

-- requeue_given --
-- A job that was to be stopped is not requeued, nor one that a process ran under its own lock.
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, tries
FROM given WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
RETURNING args ->> 'name' AS name, attempts

-- requeue --
WITH given AS (
    DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'
    RETURNING *, attempts + %(tries)s::integer AS tries
)
{requeue_given}

-- delete_failed --
DELETE FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status = 'failed' AND attempts < %(most)s::integer

-- known_names --
SELECT args ->> 'name' AS name FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status IN ('todo', 'doing', 'failed')

-- claim_sweep --
-- The first process in a time slot sweeps the queue.
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

-- stalled --
-- Jobs of workers without a heartbeat. Their tries add up only while they follow each other quickly:
-- a job that has run for ten minutes does not kill its process.
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

-- fail_poisoned --
{stalled}
UPDATE procrastinate_jobs job
SET status = 'failed', attempts = stalled.tries, abort_requested = false,
    args = job.args || jsonb_build_object('fault', %(fault)s::jsonb)
FROM stalled WHERE job.id = stalled.id AND stalled.tries >= %(most)s::integer
  AND NOT job.abort_requested
RETURNING job.args ->> 'name' AS name

-- requeue_stalled --
{stalled}, given AS (
    DELETE FROM procrastinate_jobs job USING stalled WHERE job.id = stalled.id
    RETURNING job.*, stalled.tries
)
{requeue_given}

-- delete_stalled --
-- A job may be taken from a worker without a heartbeat.
DELETE FROM procrastinate_jobs job
WHERE job.lock = %(lock)s::text AND job.status = 'doing'
  AND NOT EXISTS (
      SELECT FROM procrastinate_workers worker
      WHERE worker.id = job.worker_id
        AND worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
  )
  AND now() - pg_postmaster_start_time() >= make_interval(secs => %(settle)s::float)
RETURNING id

-- insert_running --
INSERT INTO procrastinate_jobs
    (queue_name, task_name, lock, queueing_lock, args, status, worker_id)
SELECT %(queue)s::text, %(task)s::text, %(lock)s::text, %(lock)s::text, %(args)s::jsonb,
       'doing', %(worker)s::bigint
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
ON CONFLICT (lock) WHERE status = 'doing' DO NOTHING
RETURNING id

-- own_jobs --
SELECT id FROM procrastinate_jobs
WHERE status = 'doing' AND worker_id = ANY(%(workers)s::bigint[])

-- heartbeat --
-- The worker of a process that was frozen may have been deleted meanwhile.
INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE
VALUES (%(worker)s::bigint, now())
ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()

-- refresh_workers --
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%(workers)s::bigint[])

-- delete_old_workers --
DELETE FROM procrastinate_workers WHERE last_heartbeat < now() - interval '1 day'

-- count_jobs --
-- All jobs, by queue and state.
SELECT job.queue_name AS queue,
       CASE WHEN job.status = 'todo' THEN 'waiting'
            WHEN worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
            THEN 'doing' ELSE 'stalled' END AS state,
       count(*)::integer AS works
FROM procrastinate_jobs job
LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
WHERE job.status IN ('todo', 'doing')
GROUP BY 1, 2
