"""Cluster: a job queue and publish/subscribe on Postgres; knows no chat and no round."""
