"""Which numbers of a record are stored, and in which order: four tables, row after row.

The fields of each table are attributes of the same name. A change here is a new
`records.VERSION`.
"""

AUTHORED = (
    "share",
    "place",
    "correct",
    "refused",
    "absent",
    "words",
    "tokens_out",
    "cost_usd",
    "seconds",
    "first_votes",
    "ballots",
    "named_itself",
)
JUDGED = ("valid", "spoiled", "tau_b", "first_slot", "kept", "pairs", "cost_usd")
PAIRED = ("margin", "judges", "won")
# The winner is stored as its place among the members, from 0.
WHOLE = ("winner", "council_correct", "cost_usd", "seconds", "synthesis_usd", "synthesis_seconds")
