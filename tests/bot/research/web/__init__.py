"""Tests of the pages of the laboratory."""
