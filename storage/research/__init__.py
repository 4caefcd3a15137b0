"""Stores that only research uses: experiments with judges."""
