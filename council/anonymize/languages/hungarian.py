"""Hungarian."""

from council.anonymize.languages.language import OPENING, Language, cues
from council.anonymize.names import ANY, MAKER, MODEL

_NOUN = r"(?:modell|asszisztens|intelligenci|rendszer|chatbot|mi\b)"
_MADE = r"(?:hozott létre|fejlesztett|alkotott|tanított|készített|képzett|épített|adott)"

HUNGARIAN = Language(
    name="Hungarian",
    cues=cues(
        "vagyok rendszereként adott itt asszisztense intelligenciájaként mivel nevem hívnak mint "
        "ként engem én ezt "
        "fejlesztőim fejlesztőm készítőm készítőim alkotóm alkotóim létre fejlesztett alkotott "
        "tanított beszél beszélsz modellként asszisztensként modelljeként asszisztenseként "
        "intelligenciaként"
    ),
    signs=(
        # "Claude vagyok", "a nevem Grok", "Mistralnak hívnak"
        rf"{MODEL},? vagyok\b",
        rf"{MODEL} (?:nagy |nyelvi |mi-){{0,2}}{_NOUN}\w* vagyok\b",
        rf"{MODEL} nevű [^.\n]{{0,40}}vagyok\b",
        rf"{MAKER} [^.\n]{{0,30}}(?:{_NOUN}\w*|terméke) vagyok\b",
        rf"\ba nevem {MODEL}|{MODEL} a nevem\b|{MODEL}-?n[ae]k hívnak\b",
        rf"\bén, (?:az? )?{MODEL},",
        rf"\b(?:ön|te) (?:most )?(?:az? )?{MODEL}-?\w{{0,3}}[ae]l beszél",
        rf"{OPENING}[^.\n]{{0,15}}\bitt (?:az? )?{MODEL}(?=[.,!])",
        rf"\b(?:ön|a te|te) (?:\w+ )?asszisztensed?e?, ?(?:az? )?{MODEL}",
        # "Claude-ként", "mint az Anthropic modellje"
        rf"{OPENING}(?:az? )?{MODEL}-?ként\b",
        rf"{OPENING}mint {MODEL},(?! ?az? {ANY})",
        rf"{OPENING}mint (?:az? |egy )?{MAKER} [^.\n]{{0,40}}{_NOUN}",
        rf"{OPENING}(?:az? )?{MAKER}[ -][^.\n,]{{0,40}}{_NOUN}\w{{0,4}}ként\b",
        # "engem a DeepSeek tanított", "az OpenAI fejlesztett, és …"
        rf"\bengem (?:az? )?{MAKER} {_MADE}",
        rf"{OPENING}(?:mivel |mert )?(?:az? )?{MAKER} (?:úgy )?{_MADE}(?: meg| ki)?(?=[,.;]| hogy)",
        rf"\ba (?:meg)?(?:fejlesztőim|fejlesztőm|készítőm|készítőim|alkotóm|alkotóim|gyártóm)"
        rf"(?:,? az?)? ?{MAKER}",
        rf"\bezt a (?:választ|szöveget) (?:az? )?{ANY}",
    ),
    fields=r"modell|szerző|készítette|írta|válaszolta",
    closings=r"(?:szívélyes )?üdvözlettel|tisztelettel|köszönettel|üdv",
    owned=r"(?:-?n[ae]k a)? válasza\b",
)
