"""What this package adds to the council; each object is imported when it is used."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="example",
    summary="A grader of haiku, plurality voting, and a chat by webhook.",
    methods={"plurality": "council_example.methods:PLURALITY"},
    graders={"syllables": "council_example.graders:SYLLABLES"},
    chats={"webhook": "council_example.chat:WEBHOOK"},
)
