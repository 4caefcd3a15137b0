"""English."""

from council.anonymize.languages.language import OPENING, Language, cues, word_sequence
from council.anonymize.names import ANY, MAKER, MODEL

_NOUN = r"(?:model|assistant|ai|llm|chatbot|bot|system|intelligence|program)"
_ADVERB = (
    r"(?:(?:originally|also|only|just|merely|simply|proudly|first|recently|currently|actually"
    r"|being) )?"
)
_KIND = word_sequence(
    r"an?|the|your|one|new|helpful|harmless|honest|friendly|careful|compact|large|small|tiny|open"
    r"|source|free|multimodal|conversational|generative|advanced|ai|artificial|intelligence"
    r"|language|model|assistant|chatbot|bot|llm|system|program|named|called|known|as|version|of"
    r"|instance|member|and|that|which|was|is|only|just|merely|simply|originally|also|proudly"
    r"|recently|specifically"
)
_MADE = (
    r"(?:made|trained|developed|created|built|designed|released|written|powered|fine-tuned"
    r"|programmed|run)"
)
_AM = r"(?:i am|i'm|i was|i have been|i've been)"
# "a Gemini" is a star sign, and "a ChatGPT user" a person.
_NOT_A = rf"(?!an? {MODEL}(?![ -](?:\w+ )?(?:{_NOUN}|language|instance|based)))"
_NOT_OF = (
    r"(?!'s |[ -](?:user|fan|customer|subscriber|developer|expert|engineer|team|certified|curious"
    r"|skeptic|sceptic|enthusiast|api|app)\b)"
)
# What comes straight before the writer's own name.
_NAMED = (
    r"\b(?:i am|i'm|my name is|my name's|my name\?|they call me|you can call me|please call me"
    r"|i go by|me,)(?: (?:originally|actually|only|just|merely|simply))?"
    r"|(?<!if )(?<!when )(?<!while )(?<!whether )\byou(?:'re| are) (?:now |currently )?"
    r"(?:speaking|talking|chatting) (?:to|with)"
    r"|\bthe model (?:that is |which is )?(?:you(?:'re| are)? (?:now )?(?:speaking|talking"
    r"|chatting) (?:to|with)|behind this \w+|answering(?: you)?|speaking|writing(?: this)?) is"
    r"|\b(?:who|what)(?: is|'s) (?:answering|speaking|writing|here)[^\w.\n]{1,3}(?:it's|it is"
    r"|this is)?"
    r"|\bmy (?:underlying |base |own )?(?:model|model name|llm) is"
    r"|\b(?:speaking|writing|answering|responding|replying|speaking for myself|my (?:role|capacity"
    r"|life|answer|perspective|view|point of view|standpoint)|i (?:work|serve|act)) as"
)
# "As a model from OpenAI, it …" is about another.
_ALONE = rf"(?!,? ?{MODEL}|'s |,? (?:it|its|this|that|these|the|they|he|she)\b)"
_TEXT = r"(?:answer|response|reply|text|message|summary|post|content|note)"
_WRITTEN = r"(?:written|generated|produced|authored|provided|drafted|composed|created|made|given)"

ENGLISH = Language(
    name="English",
    cues=cues(
        "i me my as this you your being like it made trained developed created built speaking "
        "writing answering here answer who what"
    ),
    signs=(
        # "I'm Claude", "my name is Qwen", "speaking as Grok"
        rf"(?:{_NAMED}) {_NOT_A}{_KIND}{MODEL}{_NOT_OF}",
        rf"\bi, {_KIND}{MODEL},",
        rf"{OPENING}(?:this is|it's) {MODEL}(?=[,.!:;—–]| (?:here|speaking|from)\b)",
        rf"{OPENING}(?:hi|hey|hello)[^.\n]{{0,12}}, (?:this is|it's) {MODEL}",
        rf"{OPENING}{MODEL} (?:here|speaking|again|at your service)\b",
        rf"\byour (?:\w+ )?(?:{_NOUN}|friend),? {MODEL}{_NOT_OF}",
        # "As Claude, I", "speaking as Grok"
        rf"{OPENING}(?:and |but |so |here )?as {_NOT_A}{_KIND}{MODEL}{_NOT_OF}"
        rf"(?=,? (?:i|my|me|we)\b|, (?!{ANY}|and )|:)",
        rf"(?<!such )(?<!well )(?<!same )\bas {_NOT_A}{_KIND}{MODEL},? i(?=['\s])",
        rf"\bi,? as {_KIND}{MODEL},",
        rf"\bbeing {_KIND}{MODEL}, i\b",
        rf"\byou(?:'ve| have) asked {MODEL}, (?:and|so)\b",
        # "I was trained by Google", "as an AI made by Anthropic", "an OpenAI model"
        rf"\b{_AM} {_ADVERB}{_KIND}{_MADE}(?:,? (?:and|&) \w+)? (?:by|at)"
        rf" (?:the \w+ at )?{MAKER}(?!'s )",
        rf"(?:\b(?:i am|i'm|i, as|being|speaking as)"
        rf"|{OPENING}as) an? (?=[^.\n]{{0,60}}\b{_NOUN}\b){_KIND}(?:{_MADE} )?"
        rf"(?:by|at|from|of) (?:the \w+ (?:at|of) )?{MAKER}{_ALONE}",
        rf"(?:\b(?:i am|i'm|i, as|being|speaking as)"
        rf"|{OPENING}as) an? {_KIND}{MAKER}(?:'s)? {_KIND}{_NOUN}\b{_ALONE}",
        rf"\bi(?:'m| am) (?:one of )?(?:the )?{MAKER}'s {_KIND}{_NOUN}",
        rf"\b{_MADE} by {MAKER},? i\b",
        rf"{MAKER}[^.\n]{{0,12}} (?:made|trained|developed|created|built|designed|programmed"
        rf"|fine-tuned) me\b(?! (?:an?|the|some|my|do|feel|cry|laugh|think|pay|wait|want)\b)",
        rf"\b{_MADE} me\b[^.\n]{{0,8}}(?:,| is| was| at| by) {MAKER}",
        rf"\bmy (?:own )?(?:creators?|makers?|developers?|designers?|trainers?|parent company)"
        rf"(?:,? (?:at|is|are|in|from|over at)|,|:)? {MAKER}(?!'s )",
        rf"\bmy training (?:by|at|from) {MAKER}",
        # "I run on Gemini", "like other Claude models, I", "I am part of the Qwen family"
        rf"\bi(?:'m| am)? {_ADVERB}(?:based|built|running|run|powered|fine-tuned|derived)"
        rf" (?:on|by|from) (?:top of )?{_KIND}{MODEL}{_NOT_OF}",
        rf"\b(?:like|as with|unlike) (?:all |other |most |any |every ){{1,2}}{_KIND}{ANY}"
        rf" {_NOUN}s?\b[^.\n]{{0,5}}\b(?:i|my)\b",
        rf"\b(?:like|as with) (?:all |other |most |any |every ){{1,2}}{_KIND}{_NOUN}s?"
        rf" (?:{_MADE} )?(?:by|from) {MAKER},? i\b",
        rf"\bi (?:belong to|am part of|am a member of|come from|hail from) (?:the |what )?{ANY}",
        # "This answer was written by Mistral Large"
        rf"\b(?:this|above) (?:\w+ )?{_TEXT} (?:is |was |has been |comes |came )?"
        rf"(?:\w+ )?(?:{_WRITTEN} )?(?:to you )?(?:by|with|from|using) {_KIND}{ANY}(?!'s )",
    ),
    fields=(
        r"(?:ai )?model(?: used)?|author|assistant|responder|signed(?: by)?"
        r"|(?:written|answered|generated|produced|powered|created|response|answer|reply|note)"
        r" (?:by|from|with)"
    ),
    closings=(
        r"(?:(?:best|kind|warm|many|with|yours) ){0,2}"
        r"(?:all the best|take care|regards|wishes|thanks|greetings|cheers|sincerely|truly"
        r"|yours(?: truly)?|best"
        r"|your(?: friend)?)"
    ),
    owned=r"'s (?:answer|response|reply|take|view)\b| says ?[:\n]",
)
