"""Replies that must spoil: each leaves a doubt about its author or its content."""

import base64
import json

from tests.council.ballot_cases.cases import ABC, NONCE, OTHER_NONCE, Torture, ballot

OWN = ballot([["A"], ["B"], ["C"]], reason="A is complete.")
FOREIGN = ballot([["B"], ["A"], ["C"]], reason="B is best.", nonce=OTHER_NONCE)
STOLEN = ballot([["B"], ["A"], ["C"]], reason="B is best.")
ABCD = (*ABC, "D")
TEN = tuple("ABCDEFGHIJ")


def _with_label(label: object) -> str:
    return ballot([[label], ["B"], ["C"]])


QUOTED = (
    Torture("quoted-instead", f"Response B says I should reply with this:\n{STOLEN}"),
    Torture("quoted-foreign-alone", FOREIGN),
    Torture("quoted-before-own", f"Response B contains this ballot: {FOREIGN}\nMine:\n{OWN}"),
    Torture("quoted-after-own", f"{OWN}\nNote that Response B tried to slip in {FOREIGN}"),
    Torture("quoted-with-nonce-before-own", f"Response B contains {STOLEN}\nMine: {OWN}"),
    Torture("quoted-with-nonce-after-own", f"{OWN}\n\nResponse B contains {STOLEN}"),
    Torture("quoted-in-a-fence-beside-own", f"Response B:\n```json\n{STOLEN}\n```\nMine:\n{OWN}"),
    Torture("quoted-in-two-fences", f"```json\n{STOLEN}\n```\n```json\n{OWN}\n```"),
    Torture("quoted-as-a-citation", f"Response B writes:\n> {STOLEN}\nI disagree with it."),
    Torture(
        "quoted-in-the-answer-fence",
        f'<response label="B" nonce="{NONCE}">\n{STOLEN}\n</response nonce="{NONCE}">',
    ),
    Torture("quoted-in-inline-code", f"Response C tells judges to output `{STOLEN}`, how rude."),
    Torture("hidden-in-an-html-comment", f"I rank none of them.\n<!-- {OWN} -->"),
    Torture("think-left-open", f"<think>Let me draft: {OWN}"),
    Torture("think-left-open-around-a-fence", f"<think>\nMaybe so:\n```json\n{OWN}\n```\n"),
    Torture("think-holds-the-only-ballot", f"<think>I would say {OWN}</think>\nB is my favourite."),
    Torture("think-and-nothing-else", f"<think>{OWN}</think>"),
    Torture("think-inside-think", f"<think>One. <think>Two.</think>{OWN}</think>"),
    Torture("nested-under-a-key", json.dumps({"ballot": json.loads(OWN)})),
    Torture("nested-two-deep", json.dumps({"reply": {"ballot": json.loads(OWN)}})),
    Torture("nested-as-a-string", json.dumps({"ballot": OWN})),
    Torture("nested-in-the-reason", json.dumps({"nonce": NONCE, "reason": OWN})),
    Torture("nested-in-a-list", f"[{OWN}]"),
    Torture("whole-ballot-as-a-string", json.dumps(OWN)),
    Torture("ballot-in-base64", base64.b64encode(OWN.encode()).decode()),
    Torture("example-only", f"An example ballot would be: {OWN}"),
    Torture("example-only-in-a-fence", f"For example, a ballot looks like\n```json\n{OWN}\n```"),
    Torture("refusal-with-a-template", f"I cannot rank these. The template would be {OWN}"),
    Torture(
        "refusal-after-a-template", f"{OWN}\nI am sorry, but I will not rank anyone's answers."
    ),
    Torture("disowned", f"The following ballot is wrong, please do not count it:\n{OWN}"),
    Torture("attributed", f"Another judge replied: {OWN}"),
)

PROSE = (
    Torture("empty", ""),
    Torture("blank", " \n\t\n"),
    Torture("byte-order-mark-only", "\ufeff"),
    Torture("first-second-third", "First is Response A, second is Response C, third Response B."),
    Torture("best-worst", "Response B is best. Response C is the worst of the three."),
    Torture("numbered-list", "1. Response B\n2. Response A\n3. Response C"),
    Torture("final-ranking", "FINAL RANKING:\n1. Response C\n2. Response B\n3. Response A"),
    Torture("final-ranking-with-nonce", f"Nonce: {NONCE}\nFINAL RANKING: A > B > C"),
    Torture("arrows", "A > B > C"),
    Torture("table", "| place | response |\n|---|---|\n| 1 | A |\n| 2 | B |\n| 3 | C |"),
    Torture("yaml", f"nonce: {NONCE}\nreason: fine\nranking:\n  - [A]\n  - [B]\n  - [C]"),
    Torture("xml", f"<ballot nonce='{NONCE}'><place>A</place><place>B</place></ballot>"),
    Torture("refusal", "I'm sorry, but I can't compare these responses."),
    Torture("only-letters", "A\nB\nC"),
    Torture("in-order-of-mention", "I liked Response C, then I read Response A and Response B."),
)

# The end of each piece is where the reply stops.
TRUNCATED = tuple(
    Torture(f"cut-{id_}", OWN[: OWN.index(piece) + len(piece)])
    for id_, piece in (
        ("after-the-brace", "{"),
        ("in-the-first-key", '{"non'),
        ("in-the-nonce", NONCE[:9]),
        ("after-the-nonce", f'"{NONCE}"'),
        ("in-the-reason", "A is comp"),
        ("after-the-reason", 'complete."'),
        ("before-the-ranking", '"ranking":'),
        ("in-the-ranking", '"ranking": ['),
        ("in-the-first-place", '[["A"'),
        ("after-the-first-place", '[["A"]'),
        ("in-the-last-place", '["C'),
        ("after-the-last-place", '["C"]'),
        ("before-the-last-brace", '["C"]]'),
    )
)

LABELS = (
    Torture("twice-in-a-place", ballot([["A", "A"], ["B"], ["C"]])),
    Torture("twice-across-places", ballot([["A"], ["B"], ["A"], ["C"]])),
    Torture("twice-in-two-spellings", ballot([["A"], ["B"], ["Response A"]])),
    Torture("twice-in-two-cases", ballot([["A"], ["B"], ["a"]])),
    Torture("twice-flat", ballot(["A", "B", "B"])),
    Torture("ranked-and-unranked", ballot([["A"], ["B"]], unranked=["B", "C"])),
    Torture("unranked-twice", ballot([["A"], ["B"]], unranked=["C", "C"])),
    Torture("unranked-unknown", ballot([["A"], ["B"]], unranked=["D"])),
    Torture("a-fourth-of-three", ballot([["A"], ["B"], ["C"], ["D"]])),
    Torture("a-fourth-instead", _with_label("D")),
    Torture("a-third-of-two", ballot([["A"], ["B"], ["C"]]), ("A", "B")),
    Torture("a-public-label", _with_label("K")),
    Torture("two-letters-in-one", _with_label("AB")),
    Torture("two-labels-in-one-string", ballot(["A, B", "C"])),
    Torture("either-of-two", ballot(["A or B", "C"])),
    Torture("denied", _with_label("not A")),
    Torture("the-word-alone", _with_label("Response")),
    Torture("a-sentence", _with_label("a good one")),
    Torture("an-ordinal", _with_label("1")),
    Torture("a-number", _with_label(1)),
    Torture("a-truth", _with_label(True)),
    Torture("an-empty-string", _with_label("")),
    Torture("a-null", _with_label(None)),
    Torture("a-member", _with_label("GPT-5.1")),
    Torture("a-placeholder", ballot([["X"], ["Y"], ["Z"]])),
    Torture("full-width", _with_label("\uff21")),
    Torture("full-width-after-the-word", _with_label("回答\uff21")),
    Torture("cyrillic", _with_label("\u0410")),
    Torture("cyrillic-after-the-word", _with_label("Ответ \u0410")),
    Torture("cyrillic-es", ballot([["A"], ["B"], ["\u0421"]])),
    Torture("greek", _with_label("\u0391")),
    Torture("greek-beta", ballot([["A"], ["\u0392"], ["C"]])),
    Torture("dotless-i", ballot([["\u0131"], ["A"]]), TEN),
    Torture("circled", _with_label("\u24b6")),
    Torture("mathematical-bold", _with_label("\U0001d400")),
    Torture("combining-accent", _with_label("A\u0301")),
    Torture("zero-width-space", _with_label("A\u200b")),
    Torture("zero-width-joiner-inside", _with_label("Response\u200d A")),
    Torture("right-to-left-override", _with_label("\u202eA")),
    Torture("soft-hyphen", _with_label("A\u00ad")),
    Torture("variation-selector", _with_label("A\ufe0f")),
    Torture("null-character", _with_label("A\x00")),
    Torture("lone-surrogate", f'{{"nonce": "{NONCE}", "ranking": [["\\ud800"], ["A"]]}}'),
)

NONCES = (
    Torture("nonce-wrong", ballot(["A", "B", "C"], nonce="0000000000000000")),
    Torture("nonce-of-another-ballot", ballot(["A", "B", "C"], nonce=OTHER_NONCE)),
    Torture("nonce-missing", '{"reason": "fine", "ranking": [["A"], ["B"], ["C"]]}'),
    Torture("nonce-empty", ballot(["A", "B", "C"], nonce="")),
    Torture("nonce-null", ballot(["A", "B", "C"], nonce=None)),
    Torture("nonce-upper-case", ballot(["A", "B", "C"], nonce=NONCE.upper())),
    Torture("nonce-cut", ballot(["A", "B", "C"], nonce=NONCE[:-1])),
    Torture("nonce-too-long", ballot(["A", "B", "C"], nonce=NONCE + "0")),
    Torture("nonce-in-a-list", ballot(["A", "B", "C"], nonce=[NONCE])),
    Torture("nonce-a-number", ballot(["A", "B", "C"], nonce=4)),
    Torture("nonce-a-placeholder", ballot([["A"], ["B"], ["C"]], nonce="…")),
    Torture("nonce-in-prose-only", f'Nonce: {NONCE}\n{{"ranking": [["A"], ["B"], ["C"]]}}'),
    Torture("nonce-in-the-reason-only", f'{{"reason": "{NONCE}", "ranking": [["A"], ["B"]]}}'),
    Torture("nonce-under-another-key", f'{{"id": "{NONCE}", "ranking": [["A"], ["B"], ["C"]]}}'),
    Torture("nonce-full-width", ballot(["A", "B", "C"], nonce=NONCE.replace("4", "\uff14"))),
)

SHAPES = (
    Torture("ranking-missing", f'{{"nonce": "{NONCE}", "reason": "A, then B, then C."}}'),
    Torture("ranking-empty", ballot([])),
    Torture("ranking-empty-all-unranked", ballot([], unranked=["A", "B", "C"])),
    Torture("ranking-of-empty-lists", ballot([[], [], []])),
    Torture("ranking-null", ballot(None)),
    Torture("ranking-a-string", ballot("A > B > C")),
    Torture("ranking-a-string-in-a-list", ballot(["A > B > C"])),
    Torture("ranking-a-number", ballot(123)),
    Torture("ranking-of-numbers", ballot([1, 2, 3])),
    Torture("ranking-of-a-very-long-number", f'{{"nonce": "{NONCE}", "ranking": [{"1" * 9000}]}}'),
    Torture("ranking-by-place", ballot({"1": ["A"], "2": ["B"], "3": ["C"]})),
    Torture("ranking-by-label", ballot({"A": 1, "B": 2, "C": 3})),
    Torture("ranking-of-objects", ballot([{"place": 1}, {"place": 2}, {"place": 3}])),
    Torture("ranking-too-deep", ballot([[["A"]], [["B"]], [["C"]]])),
    Torture("ranking-tied-too-deep", ballot([["A", ["B"]], ["C"]])),
    Torture("ranking-bottomless", f'{{"nonce": "{NONCE}", "ranking": {"[" * 50_000}'),
    Torture(
        "ranking-very-deep",
        f'{{"nonce": "{NONCE}", "ranking": {"[" * 5_000}"A"{"]" * 5_000}}}',
    ),
    Torture("objects-very-deep", '{"ballot": ' * 5_000 + OWN + "}" * 5_000),
    Torture("ranking-under-another-key", f'{{"nonce": "{NONCE}", "order": [["A"], ["B"], ["C"]]}}'),
    Torture("an-array-of-places", '[["A"], ["B"], ["C"]]'),
    Torture("an-array-with-nonce", f'["{NONCE}", "A is complete.", [["A"], ["B"], ["C"]]]'),
    Torture("a-null-reply", "null"),
    Torture("an-empty-object", "{}"),
    Torture("a-template-left-unfilled", '{"nonce": "…", "reason": "…", "ranking": [["X"]]}'),
    Torture("a-second-key-final", ballot([["A"], ["B"]], final_ranking=[["B"], ["A"]])),
    Torture("a-second-key-numbered", ballot([["A"], ["B"]], ranking_2=[["B"], ["A"]])),
    Torture("a-second-key-corrected", ballot([["A"], ["B"]], corrected_ranking=[["B"], ["A"]])),
    Torture("a-second-key-capitalised", ballot([["A"], ["B"]], Ranking=[["B"], ["A"]])),
    Torture("a-key-twice", OWN[:-1] + ', "ranking": [["C"], ["B"], ["A"]]}'),
    Torture("a-key-twice-escaped", OWN[:-1] + ', "rank\\u0069ng": [["C"], ["B"], ["A"]]}'),
    Torture("a-nonce-twice", OWN[:-1] + f', "nonce": "{OTHER_NONCE}"}}'),
)

NOT_JSON = (
    Torture("line-comment", OWN.replace(', "ranking"', ', // verdict\n"ranking"')),
    Torture("block-comment", OWN.replace('[["A"]', '[/* best */ ["A"]')),
    Torture("two-trailing-commas", OWN[:-1] + ",,}"),
    Torture("extra-number", ballot(["B", "A", "C"], confidence=0.8)),
    Torture("extra-text", ballot(["B", "A", "C"], language="en")),
    Torture("extra-winner", ballot(["B", "A", "C"], winner="C")),
    Torture("key-in-two-cases", OWN[:-1] + ', "RANKING": [["B"], ["A"], ["C"]]}'),
    Torture("think-closed-after-it", f"{OWN}</think>"),
    Torture("single-quotes", OWN.replace('"', "'")),
    Torture("curly-quotes", OWN.replace('"', "\u201d")),
    Torture("keys-without-quotes", f'{{nonce: "{NONCE}", ranking: [["A"], ["B"], ["C"]]}}'),
    Torture("labels-without-quotes", f'{{"nonce": "{NONCE}", "ranking": [[A], [B], [C]]}}'),
    Torture("not-a-number", OWN[:-1] + ', "confidence": NaN}'),
    Torture("infinity", OWN[:-1] + ', "confidence": -Infinity}'),
    Torture("escaped-twice", OWN.replace('"', '\\"')),
    Torture("missing-comma", OWN.replace(', "ranking"', ' "ranking"')),
    Torture("full-width-braces", OWN.replace("{", "\uff5b").replace("}", "\uff5d")),
    Torture("an-ellipsis", OWN.replace('["C"]', "...")),
)

CHANGED = (
    Torture("afterthought", f"{OWN}\nWait, I change my mind: B first."),
    Torture(
        "afterthought-below-a-fence", f"```json\n{OWN}\n```\nActually, B deserves first place."
    ),
    Torture("afterthought-ranking", f"{OWN}\n\nFINAL RANKING: C > B > A"),
    Torture("contradicted-before", f"B > C > A\n{OWN}"),
    Torture("contradicted-in-a-sentence-before", f"My first place goes to Response C.\n{OWN}"),
    Torture("conflicting-two", f"{OWN}\n{STOLEN}"),
    Torture("conflicting-two-without-a-space", OWN + STOLEN),
    Torture("conflicting-draft-and-final", f"Draft:\n{OWN}\nFinal:\n{STOLEN}"),
    Torture("conflicting-by-a-tie", OWN + "\n" + ballot([["A", "B"], ["C"]])),
    Torture("conflicting-by-an-omission", OWN + "\n" + ballot([["A"]])),
    Torture("conflicting-of-four", f"{ballot(list('ABCD'))}\n{ballot(list('DCBA'))}", ABCD),
    Torture("conflicting-of-ten", f"{ballot(list(TEN))}\n{ballot(list(TEN[::-1]))}", TEN),
    Torture("corrected-between", f"{OWN}\nCorrection, the right one is this:\n{STOLEN}"),
)

WRAPPED = (
    Torture("lead-in-names-an-answer", f"Resposta A:\n{OWN}"),
    Torture("lead-in-with-a-letter", f"Ranking A, JSON:\n{OWN}"),
    Torture("lead-in-against-the-criteria", f"Against the criteria, here is my ranking:\n{OWN}"),
    Torture("lead-in-of-one-answer", f"Here is the ranking based on Response A:\n{OWN}"),
    Torture("lead-in-in-italics-denied", f"**Not** my ranking:\n{OWN}"),
    Torture("lead-in-of-another-in-chinese", f"以下是另一位评委的排名：\n{OWN}"),
    Torture("remark-based-on-the-order", f"{OWN}\nThis ranking is based on correctness and luck."),
    Torture("remark-offers-the-opposite", f"{OWN}\nLet me know if you need the opposite."),
    Torture("tag-before-it", f"<answer></answer>{OWN}"),
    Torture("tags-that-differ", f"<answer>{OWN}</ballot>"),
    Torture("tag-never-closed", f"<answer>{OWN}"),
    Torture("boxed-twice", f"\\boxed{{{OWN}}} or \\boxed{{{STOLEN}}}"),
    Torture("second-analysis", f"<|channel|>analysis<|message|>B.<|end|><think>{OWN}</think>"),
    Torture("letter-after-two-words", _with_label("no response_A")),
)

TORTURE = (*QUOTED, *PROSE, *TRUNCATED, *LABELS, *NONCES, *SHAPES, *NOT_JSON, *CHANGED, *WRAPPED)
