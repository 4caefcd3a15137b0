"""What models put around the JSON object of a reply: thinking, chat tokens, lead-ins, remarks.

Pure. Knows no ballot. Only what cannot change the content is recognized, word by word: a refusal,
an example, a retraction or a second opinion matches none of these patterns.
"""

import re
from functools import cache

MAX_REMARK = 200  # characters before or after the object; more is prose

_NUMERALS = "two|three|four|five|six|seven|eight|nine|ten|[2-9]|10"


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which every blank stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


# --- Thinking and the tokens of chat templates

_THINKING = re.compile(
    r"\A\s*(?:<(think|thinking|reasoning|thought|seed:think)>.*?</\1>"
    r"|\[THINK\].*?\[/THINK\]"
    r"|◁think▷.*?◁/think▷"
    r"|<\|START_THINKING\|>.*?<\|END_THINKING\|>"
    r"|<\|begin_of_thought\|>.*?<\|end_of_thought\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>.*?<\|end\|>)",
    re.DOTALL | re.IGNORECASE,
)
_START_TOKENS = re.compile(
    r"\A\s*(?:<\|im_start\|>assistant\b"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>"
    r"|<\|START_RESPONSE\|>"
    r"|<\|begin_of_solution\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>final\s*(?:<\|constrain\|>\s*json\s*)?<\|message\|>)"
)
_END_TOKENS = (
    *("</s>", "<eos>", "<end_of_turn>"),
    *(
        f"<{bar}{name}{bar}>"
        for bar in "|｜"
        for name in (
            *("im_end", "end", "eot_id", "eom_id", "endoftext", "end_of_text", "return"),
            *("end▁of▁sentence", "END_OF_TURN_TOKEN", "END_RESPONSE", "end_of_solution"),
        )
    ),
)
_BOXED = re.compile(r"\A\s*\\boxed\{\s*(\{.*\})\s*\}\s*\Z", re.DOTALL)


def remove_thinking(text: str) -> str:
    """Return a reply without the thinking that it begins with, whether or not that was opened."""
    text = text.lstrip("\ufeff\u200b")
    if match := _THINKING.match(text):
        return text[match.end() :]
    # The opening tag may be in the model's prompt; what starts with an object is no thinking.
    head, tag, tail = text.partition("</think>")
    is_unopened = tag and "<think" not in text and "nonce" not in head.casefold()
    return tail if is_unopened else text


def remove_chat_tokens(text: str) -> str:
    """Return a reply without the tokens that open and close the assistant's final message."""
    text = _START_TOKENS.sub("", text, count=1).rstrip()
    end = len(text)
    while text.endswith(_END_TOKENS, 0, end):
        end = text.rindex("<", 0, end)
        while end and text[end - 1].isspace():
            end -= 1
    return _BOXED.sub(r"\1", text[:end])


# --- Lead-ins and remarks in English

_ANSWERS = (
    rf"(?:(?:the|all|these|both|each|of|given|provided|submitted|{_NUMERALS}) ){{0,5}}"
    r"(?:responses|answers|candidates)"
)
_CRITERIA = (
    r"(?:(?:the|these|those|all|your|given|provided|stated|listed|specified|above|evaluation"
    r"|judging) ){0,4}(?:criteria|rubric)"
)
_QUALITY = (
    "(?:(?:factual|overall) )?(?:correctness|completeness|usefulness|helpfulness|clarity|accuracy"
    "|honesty(?: about doubt)?|relevance|depth|conciseness)"
)
_WITH_CRITERIA = (
    rf"(?:based on|according to|using|following|applying|given|considering) {_CRITERIA}"
)
_HOW = rf"(?: (?:carefully|thoroughly|{_WITH_CRITERIA}|(?:against|by) {_CRITERIA}))?"
_ADVERB = "(?:(?:carefully|thoroughly) )?"
_JUDGED = "(?:evaluat|review|compar|consider|analy[sz]|assess)"
_NAME = (
    r"(?:(?:my|the|final|blind|overall|official|completed?|requested|required|resulting) ){0,4}"
    r"(?:(?:json|ballot|ranking|evaluation) (?:json|object|output|ballot|response|result)"
    r"|ballot|rankings?|vote|json|object|evaluation|assessment|judge?ment|verdict|decision|answer"
    r"|response|reply|output|result)"
    rf"(?: (?:(?:in|as) (?:(?:an?|the|requested|required|specified|valid) ){{0,2}}json"
    rf"(?: (?:format|object|form))?|(?:of|for) {_ANSWERS}|{_WITH_CRITERIA}|below)){{0,2}}"
)
_LEAD_INS = (
    "sure(?: thing)?|certainly|of course|absolutely|ok(?:ay)?|all ?right|understood|got it|yes",
    "thanks|thank you",
    _WITH_CRITERIA,
    r"after (?:(?:a|an|careful|thorough|close|due) ){0,2}"
    rf"(?:consideration|review|evaluation|analysis|comparison|reflection)(?: of {_ANSWERS})?",
    rf"(?:after|having) {_ADVERB}(?:{_JUDGED}(?:ing|ed)|read(?:ing)?) {_ANSWERS}{_HOW}",
    "as (?:you )?(?:requested|asked)",
    rf"i(?:['’]ve| have) {_ADVERB}(?:{_JUDGED}ed|read) {_ANSWERS}{_HOW}",
    rf"(?:here(?:['’]s| is| are)|this is|below is|the following is)(?: {_NAME})?",
    _NAME,
    "here (?:you go|it is)|assistant",
)
_REMARKS = (
    "(?:i )?hope (?:this|that|it) helps",
    "(?:please )?let me know if you (?:have any (?:(?:other|further|more) )?questions"
    "|need (?:anything else|any(?:thing)? (?:further|more)(?: (?:help|information|details"
    "|assistance|clarification))?))",
    "thanks|thank you",
    r"\(?end of (?:(?:my|the) )?(?:ballot|ranking|json)\)?",
    rf"(?:this|the|my) (?:ranking|ballot|evaluation) is based on (?:{_CRITERIA}"
    rf"|{_QUALITY}(?:(?:, and |, | and ){_QUALITY}){{0,7}})",
)
_PAUSE = r"[\s,.:;!—–。，：！-]*"


@cache
def _phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of one to four of these phrases in a row, compiled when first needed."""
    return _compiled(rf"{_PAUSE}(?:(?>{'|'.join(phrases)})(?!\w){_PAUSE}){{1,4}}")


# --- Lead-ins in other languages: "here is", then "my final", then "ranking", then "final"

# No word is a letter, since "Resposta A" and "a resposta" must differ.

_LANGUAGES = {
    "arabic": (
        "هذا هو|هذه هي|هذا|هذه|إليك|إليكم|فيما يلي",
        "النهائي|النهائية|الخاص بي",
        "تصنيفي|ترتيبي|تقييمي|الترتيب|التصنيف|التقييم",
    ),
    "chinese": (
        "以下是|这是|這是|下面是",
        "我的|最终|最終|的",
        "排名|排序|投票|选票|選票|评价|評價|结果|結果",
    ),
    "french": (
        "voici|ci-dessous",
        "mon|ma|le|la|final|finale|définitif",
        "classement|bulletin|vote|évaluation|réponse",
    ),
    "german": (
        "hier ist|hier kommt|hier|das ist|nachfolgend",
        "mein|meine|der|die|das|endgültige|finale|finales",
        "rangliste|ranking|rangfolge|reihung|bewertung|stimmzettel|antwort|ergebnis",
    ),
    "hindi": ("यहाँ|यह|ये", "मेरी|मेरा|अंतिम|है", "रैंकिंग|मूल्यांकन|मतपत्र"),
    "hungarian": (
        "(?:íme|itt van)(?: az?)?",
        "végső|végleges",
        "rangsorom|rangsor|sorrendem|sorrend|értékelésem|szavazatom|szavazólapom",
    ),
    "italian": (
        "ecco|questa è|questo è",
        "la|il|mia|mio|finale|definitiva",
        "classifica|graduatoria|scheda|voto|valutazione|risposta",
    ),
    "japanese": (
        "以下が|以下は|これが|こちらが",
        "私の|最終|的な|の",
        "(?:ランキング|順位|順位付け|評価|投票|投票用紙|回答)(?:です)?",
    ),
    "korean": (
        "다음은|여기|아래는",
        "저의|제|최종|나의",
        "(?:순위|평가|투표|투표지)(?:입니다)?",
    ),
    "polish": (
        "oto|poniżej",
        "mój|moja|moje|ostateczny|ostateczna|końcowy",
        "ranking|głos|ocena|karta|odpowiedź",
    ),
    "portuguese": (
        "(?:aqui está|aqui vai|eis|segue)(?: [ao])?",
        "minha|meu|final",
        "classificação|ranking|cédula|voto|avaliação|resposta",
    ),
    "russian": (
        "вот|ниже",
        "мой|моя|моё|мое|итоговый|окончательный|итоговая",
        "рейтинг|ранжирование|бюллетень|оценка|ответ",
    ),
    "spanish": (
        "aquí está|aquí tienes|aquí va|esta es|este es",
        "mi|la|el|final|definitiva",
        "clasificación|ranking|papeleta|voto|evaluación|respuesta",
    ),
    "turkish": (
        "işte|aşağıda",
        "benim|nihai|son",
        "sıralamam|sıralama|değerlendirmem|oyum|yanıtım",
    ),
}


_FOREIGN_LEAD_INS = tuple(
    rf"(?:{opening})\s*(?:(?:{words})\s*){{0,3}}(?:{nouns}|json)(?:\s*(?:{words})){{0,2}}"
    for opening, words, nouns in _LANGUAGES.values()
)
_TAG = "answer|ballot|json|output|final_?answer"
_OPENED = re.compile(rf"<({_TAG})>\s*\Z", re.IGNORECASE)
_CLOSED = re.compile(rf"\A\s*</({_TAG})>", re.IGNORECASE)


def is_harmless(before: str, after: str) -> bool:
    """Return whether text around an object, without Markdown, leaves no doubt about the object.

    Before it may be a lead-in, after it a remark, and a pair of tags such as <answer> around it.
    """
    if max(len(before), len(after)) > MAX_REMARK:
        return False
    opened, closed = _OPENED.search(before), _CLOSED.search(after)
    if (opened and opened[1].lower()) != (closed and closed[1].lower()):
        return False
    before, after = _OPENED.sub("", before).strip(), _CLOSED.sub("", after).strip()
    is_lead_in = not before or any(
        _phrases(known).fullmatch(before) for known in (_LEAD_INS, _FOREIGN_LEAD_INS)
    )
    return is_lead_in and (not after or bool(_phrases(_REMARKS).fullmatch(after)))
