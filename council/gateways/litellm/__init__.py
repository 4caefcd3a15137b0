"""The gateway to models through litellm, which is imported by `load_warm` only."""
