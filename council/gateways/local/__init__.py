"""Demonstration models that run on this machine: download, server and gateway."""
