"""Turkish."""

from council.anonymize.languages.language import OPENING, Language, cues
from council.anonymize.names import ANY, MAKER, MODEL

_NOUN = r"(?:model|sistem|asistan|yapay zek[âa]|sohbet robotu)"
_MADE = r"(?:eğit|geliştir|yarat|oluştur|tasarla|üret)\w{2,4}"

TURKISH = Language(
    name="Turkish",
    cues=cues(
        "ben benim adım beni bana olarak modeliyim asistanıyım tarafından bu yaratıcım "
        "geliştiricim ile asistanınız "
        "asistanın adında şu adlı isimli"
    ),
    signs=(
        # "Ben Claude'um", "Benim adım Grok"
        rf"\bben,? (?:yalnızca |sadece )?{MODEL}(?:'?[yıiuü]{{1,2}}m\b|,| olduğum\b| olarak\b)",
        rf"{MODEL}'[yıiuü]{{1,2}}m\b",
        rf"\badım {MODEL}|\bbana {MODEL} (?:de|diye)",
        rf"{MODEL} (?:adlı|isimli|adında) [^.\n]{{0,30}}[yr][ıiu]m\b",
        rf"\bben [^.\n]{{0,10}}{MAKER}[^.\n]{{0,50}}(?:modeliyim|asistanım|asistanıyım|zek[âa]yım)",
        rf"{MODEL} (?:dil |yapay zek[âa] )?(?:modeliyim|asistanıyım|asistanım)",
        rf"{MODEL} ile konuşuyorsun",
        rf"(?:merhaba|selam)[^.\n]{{0,12}} ben {MODEL}",
        rf"{MAKER} tarafından [^.\n]{{0,40}}(?:modeliyim|asistanım|asistanıyım|zek[âa]yım)",
        rf"\b(?:asistanınız|asistanın),? {MODEL}",
        # "Gemini olarak", "Google tarafından eğitilmiş bir model olarak"
        rf"{OPENING}{MODEL} olarak\b",
        rf"{MAKER}(?: tarafından|'\w{{1,4}}) [^.\n]{{0,40}}{_NOUN}\w{{0,4}} olarak\b",
        rf"\bbir {MAKER} {_NOUN}\w{{0,4}} olarak\b",
        rf"{MAKER} tarafından (?:\S{{1,20}} )?(?:eğitildim|oluşturuldum|geliştirildim|tasarlandım"
        rf"|yaratıldım"
        r"|üretildim|programlandım|yayımlandım|\w+d[iıuü]ğ[iıuü]m)",
        rf"{MAKER} beni [^.\n]{{0,50}}{_MADE}\b|\bbeni {MAKER} {_MADE}\b",
        rf"{MAKER}(?:'\w{{1,5}})? (?:geliştirici|yaratıcı|mühendis)ler(?:im)\b",
        rf"\b(?:yaratıcım|geliştiricim|üreticim|yapımcım),? (?:olan )?{MAKER}",
        rf"\bbu (?:yanıt|cevap|metin) {ANY} tarafından",
    ),
    fields=r"yazar|yanıtlayan|yazan",
    closings=r"saygılarımla|saygılar|sevgiler|sevgilerimle|selamlar|iyi günler",
    owned=r"'?n?[ıiuü]n (?:yanıtı|cevabı)",
)
