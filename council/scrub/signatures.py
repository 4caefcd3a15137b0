"""Names at the top and at the bottom of a text, where they sign it, in any language."""

from council.scrub.languages import LANGUAGES
from council.scrub.mentions import ANY, MAKER, MODEL, SURE

ENDS = 300  # characters at either end in which a signature is looked for

_FIELD = "|".join(language.fields for language in LANGUAGES if language.fields)
_CLOSING = "|".join(language.closings for language in LANGUAGES if language.closings)
_OWNED = "|".join(language.owned for language in LANGUAGES if language.owned)
_MARKS = r"[^\w\n\ue000-\ue3ff~]{0,8}"
_ARTICLE = r"(?:(?:the|der|die|das|le|la|el|il|os?|as?|az|al) |l')?"
_NEAR = r"[\"'“”()\[\]_# ]{0,4}"
# A model may be followed by its maker: "GPT-5.1 by OpenAI".
_OF = (
    rf"(?:[ ,(（]{{1,3}}(?:(?:by|from|of|at|von|de|da|di|od|от|من) )?{MAKER}[^\w\n]?"
    r"(?: \w{1,20})?)?"
)
_END = r"[\s\"'“”)）\].!。_#]*\Z"
_BY = r"(?:(?:by|from|your|yours),? )?"
_TITLE = r"(?:\w{1,12}[ ,]{1,2}){0,3}"  # "your assistant, "

# Two models with a colon each are compared.
_COMPARED = rf"(?!(?:.|\n){{1,280}}?{MODEL} ?[:：])"

TOP = "|".join(
    (
        rf"{_MARKS}(?:{_FIELD}) ?[:：,(][ (\"]{{0,3}}{_ARTICLE}{ANY}(?!'s )",
        rf"{_MARKS}(?:{_FIELD}) {_ARTICLE}{ANY}{_NEAR}(?:[:：\n]|\Z)",
        rf"{_MARKS}{MODEL}{_NEAR}(?:[:：|—–]|-(?= )){_COMPARED}",
        rf"{_MARKS}{_ARTICLE}{MODEL} ?(?:{_OWNED})",
        rf"{_MARKS}\[{MODEL}\]",
        rf"{_MARKS}{SURE}{_NEAR}\n",
    )
)
BOTTOM = "|".join(
    (
        rf"(?:^|\n|[.!?:)…。！？]) ?{_NEAR}(?:[—–~]+|--+) ?(?:\w{{2,9}} )?{_BY}{_NEAR}{ANY}{_OF}"
        rf"{_END}",
        rf"\n ?\n{_NEAR}(?:- )?{_NEAR}{MODEL}{_OF}{_END}",
        rf"(?:^|\n|[.!?] ){_NEAR}(?:- )?(?:{_CLOSING})[^\w\n]{{0,4}}\s{{0,3}}{_TITLE}{ANY}"
        rf"(?: 드림| 敬上| 上)?{_OF}{_END}",
        rf"(?:^|\n){_NEAR}(?:{_FIELD})[ :：,\"]{{1,4}}{_ARTICLE}{ANY}{_OF}{_END}",
        rf"(?:\n|[.!?]) ?[(\[] ?{MODEL}{_OF} ?[)\]]\s*\Z",
    )
)
