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


def _with_text(id_: str, text: str) -> Legitimate:
    return Legitimate(id_, text, RANKED, WHY)


def _reason(id_: str, reason: str) -> Legitimate:
    return Legitimate(id_, ballot([["B"], ["A"], ["C"]], reason=reason), RANKED, reason)


def _labels(id_: str, *labels: str) -> Legitimate:
    return Legitimate(id_, ballot([[label] for label in labels]), RANKED)


FORMATS = (
    _with_text("plain", OWN),
    _with_text("pretty-printed", PRETTY),
    _with_text("without-spaces", json.dumps(json.loads(OWN), separators=(",", ":"))),
    _with_text("fence-json", f"```json\n{OWN}\n```"),
    _with_text("fence-bare", f"```\n{OWN}\n```"),
    _with_text("fence-upper-case", f"```JSON\n{OWN}\n```"),
    _with_text("fence-other-info", f"```ballot\n{OWN}\n```"),
    _with_text("fence-javascript", f"```javascript\n{PRETTY}\n```"),
    _with_text("fence-pretty-printed", f"```json\n{PRETTY}\n```\n"),
    _with_text("fence-with-blank-lines", f"\n```json\n\n{PRETTY}\n\n```\n\n"),
    _with_text("white-space-around", f"\n\n  {OWN}  \n\t\n"),
    _with_text("byte-order-mark", f"\ufeff{OWN}"),
    _with_text("carriage-returns", PRETTY.replace("\n", "\r\n") + "\r\n"),
    _with_text("carriage-returns-in-a-fence", f"```json\r\n{OWN}\r\n```\r\n"),
    _with_text("tabs", json.dumps(json.loads(OWN), indent="\t")),
    _with_text("think-then-object", f"<think>\nB is better than A.\n</think>\n\n{OWN}"),
    _with_text("think-with-braces", f"<think>{{a}} {{ }} }} [[</think>{OWN}"),
    _with_text("think-with-a-draft", f"<think>Maybe {DRAFT}? No.</think>\n{OWN}"),
    _with_text("think-with-a-fenced-draft", f"<think>\n```json\n{DRAFT}\n```\n</think>\n{OWN}"),
    _with_text("think-empty", f"<think>\n\n</think>\n\n{OWN}"),
    _with_text("think-then-fence", f"<think>B, A, C.</think>\n```json\n{PRETTY}\n```"),
    _with_text("lead-in", f"Here is my ranking:\n{OWN}"),
    _with_text("lead-in-and-blank-line", f"Here is my ranking:\n\n{PRETTY}"),
    _with_text("lead-in-then-fence", f"Here is my ranking:\n\n```json\n{OWN}\n```"),
    _with_text("think-then-lead-in", f"<think>Hm.</think>\nHere is my ranking:\n{OWN}"),
    _with_text("twice-the-same", f"{OWN}\n{OWN}"),
    _with_text("twice-the-same-fenced", f"```json\n{OWN}\n```\n\n```json\n{OWN}\n```"),
    _with_text("letters-escaped", OWN.replace('"B"', '"\\u0042"')),
    _with_text("reason-last", ballot(["B", "A", "C"])[:-1] + f', "reason": "{WHY}"}}'),
    _with_text(
        "ranking-first",
        f'{{"ranking": [["B"], ["A"], ["C"]], "reason": "{WHY}", "nonce": "{NONCE}"}}',
    ),
    _with_text("trailing-comma", OWN[:-1] + ",}"),
    _with_text("trailing-comma-in-the-ranking", OWN.replace('["C"]]', '["C"] ,\n]')),
    _with_text("keys-in-capitals", OWN.replace('"ranking"', '"Ranking"')),
    _with_text("think-without-its-opening", f"B, then A. {{}}</think>\n{OWN}"),
    _with_text("end-token", f"{OWN}</s>"),
    _with_text("two-end-tokens", f"{OWN}\n<|im_end|>\n<｜end▁of▁sentence｜>\n"),
    _with_text("unranked-empty", ballot(["B", "A", "C"], reason=WHY, unranked=[])),
)

PLACES = (
    Legitimate("flat", ballot(["B", "A", "C"]), RANKED),
    Legitimate("flat-with-a-tie", ballot(["A", ["B", "C"]]), (("A",), ("B", "C"))),
    Legitimate("flat-after-a-tie", ballot([["A", "C"], "B"]), (("A", "C"), ("B",))),
    Legitimate("tie-below", ballot([["A"], ["B", "C"]]), (("A",), ("B", "C"))),
    Legitimate("tie-above", ballot([["C", "A"], ["B"]]), (("A", "C"), ("B",))),
    Legitimate("all-tied", ballot([["A", "B", "C"]]), (("A", "B", "C"),)),
    Legitimate("in-bold", ballot([["**B**"], ["`A`"], ["(C)"]]), RANKED),
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
    _labels("response", "Response B", "Response A", "Response C"),
    _labels("response-lower-case", "response b", "response a", "response c"),
    _labels("response-upper-case", "RESPONSE B", "RESPONSE A", "RESPONSE C"),
    _labels("response-sometimes", "Response B", "A", "C"),
    _labels("german", "Antwort B", "Antwort A", "Antwort C"),
    _labels("french", "Réponse B", "Réponse A", "Réponse C"),
    _labels("spanish", "Respuesta B", "Respuesta A", "Respuesta C"),
    _labels("hungarian", "Válasz B", "Válasz A", "Válasz C"),
    _labels("russian", "Ответ B", "Ответ A", "Ответ C"),
    _labels("chinese", "回答B", "回答A", "回答C"),
    _labels("chinese-spaced", "回答 B", "回答 A", "回答 C"),
)

REASONS = (
    _reason("reason-hungarian", "A B válasz megnevezi a hibát, az A őszinte, a C téved."),
    _reason("reason-german", "Antwort B ist vollständig; A lässt Größeres weg, C irrt."),
    _reason("reason-chinese", "B 指出了失败模式，A 正确但不完整，C 有错误。"),
    _reason("reason-arabic", "الإجابة B كاملة، أما A فصحيحة لكنها ناقصة، وC خاطئة."),
    _reason("reason-japanese", "回答Bは根拠が明確です。Aは正しいが短い。Cは誤り。"),
    _reason("reason-quotes", 'B says "use SKIP LOCKED", and that is what one should do.'),
    _reason("reason-apostrophes", "It's B's index that decides; A's isn't there, C's is wrong."),
    _reason("reason-backslashes", "B quotes C:\\data and the pattern \\d+\\n, both right."),
    _reason("reason-newlines", "B: complete.\n\nA: right, short.\n\tC: wrong."),
    _reason("reason-emoji", "B is complete 👍🏽, A is short 🙂, C is wrong 👩‍💻."),
    _reason("reason-braces", "B closes its braces: {x: [1, 2]}; C forgets one: { [ ."),
    _reason("reason-other-places", "Response C is first in style, Response A second; not here."),
    _reason("reason-a-code-fence", "B shows\n```sql\nSELECT 1;\n```\nand A does not."),
    _reason("reason-a-think-tag", "B explains what <think> means, A does not."),
    _reason("reason-an-injection-named", f"C begs with {ballot(['C'], nonce=OTHER_NONCE)}."),
    _reason("reason-empty", ""),
    Legitimate("reason-invalid-escape", OWN.replace(WHY, r"\(a\)"), RANKED, r"\(a\)"),
    Legitimate("reason-raw-newline", OWN.replace(WHY, "B,\nso B."), RANKED, "B,\nso B."),
    Legitimate("reason-with-a-comma", OWN.replace(WHY, "[B, ]"), RANKED, "[B, ]"),
    Legitimate(
        "reason-all-escaped",
        json.dumps({"nonce": NONCE, "reason": "Größe: 回答B", "ranking": [["B"], ["A"], ["C"]]}),
        RANKED,
        "Größe: 回答B",
        ABC,
    ),
)

LEGITIMATE = (*FORMATS, *PLACES, *WORDS, *REASONS)
