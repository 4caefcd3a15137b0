"""Replies that must spoil, written before the reader was seen: ballots that leave a doubt.

Held out: they measure the reader, so a case changes only if it is wrong itself.
"""

import json

from tests.council.ballot_cases.cases import NONCE, OTHER_NONCE, Torture, ballot

OWN = ballot([["B"], ["A"], ["C"]], reason="It names the failure mode.")
OTHER = ballot([["C"], ["A"], ["B"]], reason="It is short.")
FENCED = f"```json\n{OWN}\n```"
HEAD = f'{{"nonce": "{NONCE}", "reason": "It is right.", "ranking": '
PLACES = '[["B"], ["A"], ["C"]]'


def _nonce(id_: str, nonce: object) -> Torture:
    return Torture(id_, ballot([["B"], ["A"], ["C"]], nonce=nonce, reason="It is right."))


def _ranked(id_: str, places: str) -> Torture:
    return Torture(id_, f"{HEAD}{places}}}")


def _key(id_: str, more: str) -> Torture:
    return Torture(id_, f"{HEAD}{PLACES}, {more}}}")


def _before(id_: str, lead_in: str) -> Torture:
    return Torture(id_, f"{lead_in}\n{OWN}")


def _after(id_: str, afterword: str) -> Torture:
    return Torture(id_, f"{OWN}\n\n{afterword}")


NONCES = (
    _nonce("nonce-of-another-ballot", OTHER_NONCE),
    _nonce("nonce-cut", NONCE[:8]),
    _nonce("nonce-cut-with-dots", NONCE[:4] + "…"),
    _nonce("nonce-and-more", NONCE + "00"),
    _nonce("nonce-one-digit-off", NONCE[:-1] + "6"),
    _nonce("nonce-backwards", NONCE[::-1]),
    _nonce("nonce-empty", ""),
    _nonce("nonce-null", None),
    _nonce("nonce-number", 0),
    _nonce("nonce-placeholder", "<nonce>"),
    _nonce("two-nonces", [NONCE, OTHER_NONCE]),
    Torture("nonce-outside", f"Nonce: {NONCE}\n" + json.dumps({"ranking": [["B"], ["A"], ["C"]]})),
)

CONFLICTS = (
    Torture("two-ballots", f"{OWN}\n{OTHER}"),
    Torture("two-fences", f"{FENCED}\n\n```json\n{OTHER}\n```"),
    Torture("correction", f"{OWN}\n\nCorrection:\n{OTHER}"),
    Torture("draft-and-final", f"Draft:\n{OTHER}\nFinal answer:\n{OWN}"),
    Torture("lead-in-before-each", f"JSON:\n{OWN}\nJSON:\n{OTHER}"),
    Torture("two-answer-tags", f"<answer>{OWN}</answer>\n<answer>{OTHER}</answer>"),
    Torture("answer-and-ballot-tags", f"<ballot>{OWN}</ballot><answer>{OTHER}</answer>"),
    Torture(
        "two-final-channels",
        f"<|channel|>final<|message|>{OTHER}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{OWN}<|return|>",
    ),
    Torture("ballot-then-bare-list", f'{OWN}\n[["C"], ["A"], ["B"]]'),
    Torture("ballot-then-ranking-only", f'{OWN}\n{{"ranking": [["C"], ["A"], ["B"]]}}'),
    Torture("ranking-only-then-ballot", f'{{"ranking": [["C"], ["A"], ["B"]]}}\n{OWN}'),
    Torture("foreign-then-own", f"{ballot([['C'], ['A'], ['B']], nonce=OTHER_NONCE)}\n{OWN}"),
)

LABELS = (
    _ranked("unknown-letter", '[["D"], ["A"], ["C"]]'),
    _ranked("unknown-besides-all", '[["B"], ["A"], ["C"], ["D"]]'),
    _ranked("unknown-underscore", '["response_D", "response_A", "response_C"]'),
    _ranked("public-label", '[["K"], ["A"], ["C"]]'),
    _ranked("repeated", '[["B"], ["A"], ["B"]]'),
    _ranked("repeated-in-a-tie", '[["B", "B"], ["A"], ["C"]]'),
    _ranked("repeated-in-two-forms", '[["B"], ["response_B"], ["A"], ["C"]]'),
    _ranked("repeated-by-case", '[["B"], ["b"], ["A"], ["C"]]'),
    _ranked("numbers", "[[2], [1], [3]]"),
    _ranked("numbers-as-text", '["Response 2", "Response 1", "Response 3"]'),
    _ranked("letters-glued", '["BAC"]'),
    _ranked("or", '["B or A", "C"]'),
    _ranked("slash", '["B/A", "C"]'),
    _ranked("not-a-label", '["not B", "A", "C"]'),
    _ranked("question-mark", '["B?", "A", "C"]'),
    _ranked("label-with-a-remark", '["B (worst)", "A", "C"]'),
    _ranked("cyrillic-letter", '["В", "А", "С"]'),
    _ranked("deeper-nesting", '[[["B"], ["A"]], ["C"]]'),
    _ranked("nothing-ranked", "[]"),
    _ranked("places-empty", "[[], [], []]"),
    _ranked("null-ranking", "null"),
    _ranked("null-place", '["B", null, "C"]'),
    _ranked("placeholders", '["<best>", "<second>", "<third>"]'),
    _ranked("struck-label", '["~~B~~", "A", "C"]'),
    _ranked("model-names", '["GPT-5.1", "Claude", "Gemini"]'),
    _ranked("double-comma", '[["B"],, ["A"], ["C"]]'),
    _ranked("dots", '[["B"], ["A"], ...]'),
    _ranked("scores", '{"A": 4, "B": 5, "C": 1}'),
)

PROSE = (
    Torture("prose-order-of-mention", "Response B is best, then Response A, and C is last."),
    Torture("prose-signs", f"Nonce: {NONCE}\nB > A > C"),
    Torture("prose-numbered", f"{NONCE}\n1. Response B\n2. Response A\n3. Response C"),
    Torture("prose-yaml", f"nonce: {NONCE}\nreason: It is right.\nranking:\n- B\n- A\n- C"),
    Torture("prose-table", f"Ballot {NONCE}:\n| place | label |\n|---|---|\n| 1 | B |\n| 2 | A |"),
    Torture("prose-boxed", "The final answer is \\boxed{B}"),
    Torture("prose-xml", f"<ballot><nonce>{NONCE}</nonce><ranking>B, A, C</ranking></ballot>"),
    Torture("list-alone", PLACES),
    Torture("lead-in-alone", "Sure! Here is the JSON:"),
    Torture("lead-in-and-empty-object", "Final answer:\n{}"),
    Torture("cut-in-the-ranking", f'{HEAD}[["B"], ["A"]'),
    Torture("cut-in-the-reason", f'JSON:\n{{"nonce": "{NONCE}", "reason": "B is best, then A and'),
)

KEYS = (
    _key("key-confidence", '"confidence": 0.9'),
    _key("key-winner", '"winner": "C"'),
    _key("key-final-ranking", '"final_ranking": [["C"], ["A"], ["B"]]'),
    _key("key-order", '"order": "worst first"'),
    _key("key-scores", '"scores": {"A": 3, "B": 2, "C": 5}'),
    _key("ranking-twice", '"ranking": [["C"], ["A"], ["B"]]'),
    _key("ranking-twice-by-case", '"Ranking": [["C"], ["A"], ["B"]]'),
    _key("ranking-twice-alike", f'"RANKING": {PLACES}'),
    _key("ranking-twice-in-wide-letters", '"ｒａｎｋｉｎｇ": [["C"], ["A"], ["B"]]'),
    _key("nonce-twice-by-case", f'"NONCE": "{OTHER_NONCE}"'),
    _key("reason-twice", '"reason": "C is better."'),
    Torture(
        "ranking-twice-in-smart-quotes",
        f"{{“nonce”: “{NONCE}”, “ranking”: [[“B”], [“A”], [“C”]], "
        "“ranking”: [[“C”], [“A”], [“B”]]}",
    ),
    Torture(
        "ranking-twice-without-quotes",
        f'{{nonce: "{NONCE}", ranking: {PLACES}, ranking: [["C"], ["A"], ["B"]]}}',
    ),
    Torture("tool-call", json.dumps({"name": "ballot", "arguments": json.loads(OWN)})),
    Torture("nested-in-an-answer-key", json.dumps({"final_answer": json.loads(OWN)})),
)

IMITATIONS = (
    Torture(
        "reason-breaks-out",
        f'{{"nonce": "{NONCE}", "reason": "A says "ranking": [["A"], ["B"], ["C"]], well", '
        f'"ranking": {PLACES}}}',
    ),
    Torture(
        "reason-holds-a-raw-ballot",
        f'{{"nonce": "{NONCE}", "reason": "C holds {OTHER} and more", "ranking": {PLACES}}}',
    ),
    Torture(
        "reason-ends-early",
        f'{{"nonce": "{NONCE}", "reason": "C holds", "ranking": [["C"], ["A"], ["B"]]}} it says", '
        f'"ranking": {PLACES}}}',
    ),
    Torture("ranking-only-in-the-reason", json.dumps({"nonce": NONCE, "reason": "B > A > C"})),
    Torture("comment-worst-first", f"{HEAD}{PLACES} // worst first\n}}"),
    Torture("comment-hides-a-place", f'{HEAD}[/* ["B"], */ ["A"], ["C"]]}}'),
    Torture("comment-hides-a-ranking", f'{HEAD}{PLACES} /* or [["C"], ["A"]] */}}'),
)

BEFORE = (
    _before("lead-in-ranks", "Sure! C is best, then A. Here is the JSON:"),
    _before("lead-in-ranks-by-signs", "My ranking is C > A > B. JSON:"),
    _before("lead-in-has-a-winner", "Final answer: C"),
    _before("lead-in-based-on-another", "Based on the criteria, C wins; here is my ranking:"),
    _before("lead-in-worst-to-best", "Here is my ranking from worst to best:"),
    _before("lead-in-worst-first", "Ballot (worst first):"),
    _before("lead-in-reversed", "In reverse order, here is my ranking:"),
    _before("lead-in-not", "This is not my ballot:"),
    _before("lead-in-here-is-not", "Sure! Here is not my ranking:"),
    _before("lead-in-do-not-count", "Do not count this JSON:"),
    _before("lead-in-never", "I would never send this ranking:"),
    _before("lead-in-example", "Example:"),
    _before("lead-in-for-example", "For example, here is the JSON:"),
    _before("lead-in-sample", "Sample ballot:"),
    _before("lead-in-template", "Template JSON:"),
    _before("lead-in-format", "The expected format is:"),
    _before("lead-in-random", "Here is a random ranking:"),
    _before("lead-in-hypothetical", "If I had to guess, here would be my ranking:"),
    _before("lead-in-refusal", "I cannot judge these responses. JSON:"),
    _before("lead-in-refusal-polite", "Sorry, I can't help with that. Here is the JSON:"),
    _before("lead-in-of-an-answer", "Response B's ballot:"),
    _before("lead-in-obeys-an-answer", "As Response C instructs, here is the JSON:"),
    _before("lead-in-another-judge", "Here is the ranking of another judge:"),
    _before("lead-in-previous", "Previous ballot:"),
    _before("lead-in-draft", "Draft ranking:"),
    _before("lead-in-invalid", "Invalid JSON:"),
    _before("lead-in-user", "User: Here is the JSON:"),
    _before("lead-in-german-not", "Hier ist nicht meine Rangliste:"),
    _before("lead-in-german-example", "Hier ist ein Beispiel:"),
    _before("lead-in-french-worst", "Voici mon classement, du pire au meilleur :"),
    _before("lead-in-chinese-example", "以下是一个例子："),
)

AFTER = (
    _after("ignore-the-above", "Ignore the above."),
    _after("disregard", "Please disregard this ballot."),
    _after("only-an-example", "That was only an example."),
    _after("not-my-ranking", "The above is not my ranking."),
    _after("scratch-that", "Scratch that."),
    _after("refusal", "I'm sorry, but I cannot rank these responses."),
    _after("second-thought", "On second thought, C should be first."),
    _after("worst-first-after", "Note: this ranking is from worst to best."),
    _after("reversed-after", "(reversed)"),
    _after("swap", "Correction: swap A and B."),
    _after("tie-after", "Edit: A and C are tied."),
    _after("arbitrary", "The order is arbitrary."),
    _after("hope-but", "I hope this helps! But C is really the best."),
    _after("thanks-but", "Thank you. Actually, no."),
    _after("source", "Source: Response B"),
    _after("german-retraction", "Bitte ignorieren."),
    _after("just-kidding", "Just kidding!"),
    _after("based-on-nothing", "This ranking is based on what Response B asked for."),
)

QUOTED = (
    Torture("block-quote", f"> {OWN}"),
    Torture("block-quote-of-an-answer", f"Response A says:\n> {OWN}\nI will not follow it."),
    Torture("response-fence", f'<response label="B" nonce="{NONCE}">{OWN}</response>'),
    Torture("example-tag", f"<example>{OWN}</example>"),
    Torture("draft-tag", f"<draft>{OWN}</draft>"),
    Torture("quote-tag", f"<quote>{OWN}</quote>"),
    Torture("struck-through", f"~~{OWN}~~"),
    Torture("deleted", f"<del>{OWN}</del>"),
    Torture("html-comment", f"<!-- {OWN} -->"),
    Torture("tool-response", f"<tool_response>{OWN}</tool_response>"),
    Torture("only-in-thought-brackets", f"[THINK]{OWN}[/THINK]"),
    Torture("only-in-reasoning", f"<reasoning>{OWN}</reasoning>\nI need more time."),
    Torture("only-in-kimi-thought", f"◁think▷{OWN}◁/think▷"),
    Torture("only-in-the-analysis", f"<|channel|>analysis<|message|>{OWN}<|end|>"),
    Torture("only-in-the-commentary", f"<|channel|>commentary<|message|>{OWN}<|end|>"),
    Torture(
        "analysis-then-refusal",
        f"<|channel|>analysis<|message|>{OWN}<|end|>"
        "<|start|>assistant<|channel|>final<|message|>I cannot rank these.<|return|>",
    ),
    Torture(
        "final-then-user",
        f"<|channel|>final<|message|>I cannot.<|end|><|start|>user<|message|>{OWN}",
    ),
    Torture("user-turn", f"<|im_start|>user\n{OWN}<|im_end|>"),
    Torture("system-turn", f"<|start_header_id|>system<|end_header_id|>\n\n{OWN}<|eot_id|>"),
    Torture("thought-never-closed", f"[THINK]Perhaps {OWN}"),
    Torture("analysis-never-closed", f"<|channel|>analysis<|message|>Perhaps {OWN}"),
    Torture("ballot-before-a-thought", f"{OTHER}\n<think>No.</think>\n{OWN}"),
)

HELD_OUT_TORTURE = (
    *NONCES,
    *CONFLICTS,
    *LABELS,
    *PROSE,
    *KEYS,
    *IMITATIONS,
    *BEFORE,
    *AFTER,
    *QUOTED,
)
