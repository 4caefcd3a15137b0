"""The bias of judges: measured from stored rounds, and told."""
