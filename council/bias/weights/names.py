"""The names by which judge weights are chosen."""

UNIFORM = "uniform"
CONSISTENCY = "consistency"
HUMAN = "human"
FAMILY = "family"
PEERRANK = "peerrank"
NAMES = (UNIFORM, CONSISTENCY, HUMAN, FAMILY, PEERRANK)
