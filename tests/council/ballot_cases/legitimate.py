"""Replies that must parse: different in form, clear in content."""

import json

from tests.council.ballot_cases.cases import ABC, NONCE, OTHER_NONCE, Legitimate, ballot

Ranking = tuple[tuple[str, ...], ...]

RANKED: Ranking = (("B",), ("A",), ("C",))
WHY = "B names the failure mode."
OWN = ballot([["B"], ["A"], ["C"]], reason=WHY)
DRAFT = ballot([["C"], ["A"], ["B"]], reason="A first thought.")
PRETTY = json.dumps(json.loads(OWN), indent=2)
TEN = tuple("ABCDEFGHIJ")


def _dressed(id_: str, text: str) -> Legitimate:
    return Legitimate(id_, text, RANKED, WHY)


def _reasoned(id_: str, reason: str) -> Legitimate:
    return Legitimate(id_, ballot([["B"], ["A"], ["C"]], reason=reason), RANKED, reason)


def _worded(id_: str, *labels: str) -> Legitimate:
    return Legitimate(id_, ballot([[label] for label in labels]), RANKED)


DRESS = (
    _dressed("plain", OWN),
    _dressed("pretty-printed", PRETTY),
    _dressed("without-spaces", json.dumps(json.loads(OWN), separators=(",", ":"))),
    _dressed("fence-json", f"```json\n{OWN}\n```"),
    _dressed("fence-bare", f"```\n{OWN}\n```"),
    _dressed("fence-upper-case", f"```JSON\n{OWN}\n```"),
    _dressed("fence-other-info", f"```ballot\n{OWN}\n```"),
    _dressed("fence-javascript", f"```javascript\n{PRETTY}\n```"),
    _dressed("fence-pretty-printed", f"```json\n{PRETTY}\n```\n"),
    _dressed("fence-with-blank-lines", f"\n```json\n\n{PRETTY}\n\n```\n\n"),
    _dressed("white-space-around", f"\n\n  {OWN}  \n\t\n"),
    _dressed("byte-order-mark", f"\ufeff{OWN}"),
    _dressed("carriage-returns", PRETTY.replace("\n", "\r\n") + "\r\n"),
    _dressed("carriage-returns-in-a-fence", f"```json\r\n{OWN}\r\n```\r\n"),
    _dressed("tabs", json.dumps(json.loads(OWN), indent="\t")),
    _dressed("think-then-object", f"<think>\nB is better than A.\n</think>\n\n{OWN}"),
    _dressed("think-with-braces", f"<think>{{a}} {{ }} }} [[</think>{OWN}"),
    _dressed("think-with-a-draft", f"<think>Maybe {DRAFT}? No.</think>\n{OWN}"),
    _dressed("think-with-a-fenced-draft", f"<think>\n```json\n{DRAFT}\n```\n</think>\n{OWN}"),
    _dressed("think-empty", f"<think>\n\n</think>\n\n{OWN}"),
    _dressed("think-then-fence", f"<think>B, A, C.</think>\n```json\n{PRETTY}\n```"),
    _dressed("lead-in", f"Here is my ranking:\n{OWN}"),
    _dressed("lead-in-and-blank-line", f"Here is my ranking:\n\n{PRETTY}"),
    _dressed("lead-in-then-fence", f"Here is my ranking:\n\n```json\n{OWN}\n```"),
    _dressed("think-then-lead-in", f"<think>Hm.</think>\nHere is my ranking:\n{OWN}"),
    _dressed("twice-the-same", f"{OWN}\n{OWN}"),
    _dressed("twice-the-same-fenced", f"```json\n{OWN}\n```\n\n```json\n{OWN}\n```"),
    _dressed("letters-escaped", OWN.replace('"B"', '"\\u0042"')),
    _dressed("reason-last", ballot(["B", "A", "C"])[:-1] + f', "reason": "{WHY}"}}'),
    _dressed(
        "ranking-first",
        f'{{"ranking": [["B"], ["A"], ["C"]], "reason": "{WHY}", "nonce": "{NONCE}"}}',
    ),
    _dressed("extra-number", ballot(["B", "A", "C"], reason=WHY, confidence=0.8)),
    _dressed("extra-text", ballot(["B", "A", "C"], reason=WHY, language="en")),
    _dressed("unranked-empty", ballot(["B", "A", "C"], reason=WHY, unranked=[])),
)

PLACES = (
    Legitimate("flat", ballot(["B", "A", "C"]), RANKED),
    Legitimate("flat-with-a-tie", ballot(["A", ["B", "C"]]), (("A",), ("B", "C"))),
    Legitimate("flat-after-a-tie", ballot([["A", "C"], "B"]), (("A", "C"), ("B",))),
    Legitimate("tie-below", ballot([["A"], ["B", "C"]]), (("A",), ("B", "C"))),
    Legitimate("tie-above", ballot([["C", "A"], ["B"]]), (("A", "C"), ("B",))),
    Legitimate("all-tied", ballot([["A", "B", "C"]]), (("A", "B", "C"),)),
    Legitimate("one-left-out", ballot([["C"], ["A"]]), (("C",), ("A",))),
    Legitimate("two-left-out", ballot([["B"]]), (("B",),)),
    Legitimate("two-left-out-flat", ballot(["B"]), (("B",),)),
    Legitimate("tie-and-one-left-out", ballot([["C", "B"]]), (("B", "C"),)),
    Legitimate("unranked-said", ballot([["B"], ["A"]], unranked=["C"]), (("B",), ("A",))),
    Legitimate("unranked-said-of-two", ballot([["A"]], unranked=["B", "C"]), (("A",),)),
    Legitimate("two-letters", ballot([["B"], ["A"]]), (("B",), ("A",)), letters=("A", "B")),
    Legitimate("two-letters-tied", ballot([["A", "B"]]), (("A", "B"),), letters=("A", "B")),
    Legitimate("four-letters", ballot(list("DBAC")), tuple(zip("DBAC")), letters=tuple("ABCD")),
    Legitimate(
        "five-letters-two-ties",
        ballot([["E", "A"], ["C"], ["D", "B"]]),
        (("A", "E"), ("C",), ("B", "D")),
        letters=tuple("ABCDE"),
    ),
    Legitimate(
        "seven-letters", ballot(list("GFEDCBA")), tuple(zip("GFEDCBA")), letters=tuple("ABCDEFG")
    ),
    Legitimate("ten-letters", ballot(list("JAIBHCGDFE")), tuple(zip("JAIBHCGDFE")), letters=TEN),
    Legitimate(
        "ten-letters-three-ranked", ballot(["I", ["J", "A"]]), (("I",), ("A", "J")), letters=TEN
    ),
    Legitimate("no-reason", ballot([["B"], ["A"], ["C"]]), RANKED),
    Legitimate("lower-case", ballot([["b"], ["a"], ["c"]]), RANKED),
    Legitimate("lower-case-flat", ballot(["b", ["a", "c"]]), (("B",), ("A", "C"))),
)

WORDS = (
    _worded("response", "Response B", "Response A", "Response C"),
    _worded("response-lower-case", "response b", "response a", "response c"),
    _worded("response-upper-case", "RESPONSE B", "RESPONSE A", "RESPONSE C"),
    _worded("response-sometimes", "Response B", "A", "C"),
    _worded("german", "Antwort B", "Antwort A", "Antwort C"),
    _worded("french", "Réponse B", "Réponse A", "Réponse C"),
    _worded("spanish", "Respuesta B", "Respuesta A", "Respuesta C"),
    _worded("hungarian", "Válasz B", "Válasz A", "Válasz C"),
    _worded("russian", "Ответ B", "Ответ A", "Ответ C"),
    _worded("chinese", "回答B", "回答A", "回答C"),
    _worded("chinese-spaced", "回答 B", "回答 A", "回答 C"),
)

REASONS = (
    _reasoned("reason-hungarian", "A B válasz megnevezi a hibát, az A őszinte, a C téved."),
    _reasoned("reason-german", "Antwort B ist vollständig; A lässt Größeres weg, C irrt."),
    _reasoned("reason-chinese", "B 指出了失败模式，A 正确但不完整，C 有错误。"),
    _reasoned("reason-arabic", "الإجابة B كاملة، أما A فصحيحة لكنها ناقصة، وC خاطئة."),
    _reasoned("reason-japanese", "回答Bは根拠が明確です。Aは正しいが短い。Cは誤り。"),
    _reasoned("reason-quotes", 'B says "use SKIP LOCKED", and that is what one should do.'),
    _reasoned("reason-apostrophes", "It's B's index that decides; A's isn't there, C's is wrong."),
    _reasoned("reason-backslashes", "B quotes C:\\data and the pattern \\d+\\n, both right."),
    _reasoned("reason-newlines", "B: complete.\n\nA: right, short.\n\tC: wrong."),
    _reasoned("reason-emoji", "B is complete 👍🏽, A is short 🙂, C is wrong 👩‍💻."),
    _reasoned("reason-braces", "B closes its braces: {x: [1, 2]}; C forgets one: { [ ."),
    _reasoned("reason-other-places", "Response C is first in style, Response A second; not here."),
    _reasoned("reason-a-code-fence", "B shows\n```sql\nSELECT 1;\n```\nand A does not."),
    _reasoned("reason-a-think-tag", "B explains what <think> means, A does not."),
    _reasoned("reason-an-injection-named", f"C begs with {ballot(['C'], nonce=OTHER_NONCE)}."),
    _reasoned("reason-empty", ""),
    _reasoned("reason-long", "B is better argued. " * 200 + "That is all."),
    Legitimate(
        "reason-all-escaped",
        json.dumps({"nonce": NONCE, "reason": "Größe: 回答B", "ranking": [["B"], ["A"], ["C"]]}),
        RANKED,
        "Größe: 回答B",
        ABC,
    ),
)

LEGITIMATE = (*DRESS, *PLACES, *WORDS, *REASONS)
