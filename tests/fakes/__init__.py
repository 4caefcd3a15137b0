"""Fakes for tests: gateways, stores, simulated votes."""
