"""One- and two-word lines that people type: none of them may cost anything."""

SHORT_LINES = (
    # Words of our buttons.
    *("answers", "rankings", "results", "vote", "run again", "again", "export", "forget"),
    *("cancel", "resume", "decide", "more", "helpful", "not helpful", "new question", "forget it"),
    *("start", "subscribe", "open", "all commands", "keep it", "no", "yes", "run now", "pause"),
    *("share to channel", "K is the best", "run again?", "stop?", "export?"),
    *("questions", "unsubscribe", "run it", "resume schedule", "reveal"),
    *("this channel", "who may ask", "limits"),
    *("pause nightly", "subscribe nightly", "questions last", "open 1"),
    # Commands, with values and with typos.
    *("/council", "help", "help me", "rounds", "panel", "budget", "show", "show last", "ask"),
    *("export last", "vote last", "vote K", "rankings last", "forget last", "cancel last", "stop"),
    *("leaderbord", "exprot", "cancle", "ask me", "panel:house hi", "suite list", "bakeoff sql"),
    # Words that people try.
    *("status", "delete", "history", "settings", "cost", "models", "version", "privacy"),
    *("feedback", "about", "who won", "stop it", "delete it", "ping", "test", "hi", "hello there"),
    *("thanks", "thank you!", "ok", "good bot", "why", "…", "👍", "谢谢", "спасибо", "/export"),
)
