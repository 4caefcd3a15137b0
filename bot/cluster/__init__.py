"""Cluster: a job queue and publish/subscribe on Postgres.

Knows no chat and no round.
"""
