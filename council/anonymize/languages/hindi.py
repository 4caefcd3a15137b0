"""Hindi; its vowel signs are not word characters in a regular expression."""

from council.anonymize.languages.language import OPENING, Language
from council.anonymize.names import ANY, MAKER, MODEL

_NOUN = "(?:मॉडल|सिस्टम|एआई सिस्टम|सहायक|एआई|बुद्धिमत्ता|चैटबॉट|ai)"
_MADE = "(?:प्रशिक्षित|बनाया|बनाए|विकसित|तैयार|निर्मित|जारी|डिज़ाइन)"
_AS = "(?:के रूप में|होने के नाते|की हैसियत से)"
_ME = "(?:मैं|मुझे|मेर)"

HINDI = Language(
    name="Hindi",
    cues=frozenset("मयआ"),
    signs=(
        rf"मैं[^।.\n]{{0,30}}?{MODEL} (?:हूँ|हूं)",
        rf"मैं {MODEL} नाम|मैं {MAKER} द्वारा|मैं, ?{MODEL},",
        rf"मैं {MODEL} बोल|आपका (?:सहायक|मॉडल) {MODEL}",
        rf"आप (?:{MAKER} के )?{MODEL} से बात",
        rf"मेरा नाम {MODEL}|मुझे {MODEL} (?:कह|बुला)",
        rf"{OPENING}{MODEL} {_AS} {_ME}",
        rf"{MAKER} (?:(?:द्वारा|की|का|के) [^।\n]{{0,40}})?{_NOUN} {_AS} {_ME}",
        rf"मुझे {MAKER} (?:ने|द्वारा) [^।\n]{{0,20}}{_MADE}",
        rf"{MAKER} ने मुझे [^।\n]{{0,40}}{_MADE}",
        rf"मेर[ेीा] (?:निर्माता|डेवलपर|निर्माण)[^।\n\ue000-\ue3ff]{{0,8}}{MAKER}",
        rf"यह (?:उत्तर|जवाब) {ANY} (?:द्वारा|ने|से)",
    ),
    fields="मॉडल|लेखक|उत्तरदाता",
    closings="सादर|धन्यवाद|शुभकामनाओं सहित|आपका|आपकी",
    owned=" का (?:उत्तर|जवाब)",
)
