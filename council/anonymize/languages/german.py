"""German."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import MAKER, MODEL

_MADE = r"entwickelte?[sr]?|trainierte?[sr]?|erstellte?[sr]?|geschaffene?[sr]?|gebaute?[sr]?"
_BY = r"von|durch|bei|aus dem hause"
_NOUNS = r"modell|system|assistent|ki|chatbot|bot|intelligenz"

_GRAMMAR = Grammar(
    named=r"ich bin|ich heiße|mein name ist|man nennt mich|nennen sie mich|nenn mich"
    r"|nenne mich|sie sprechen mit|du sprichst mit",
    here="hier ist|hier spricht|hier schreibt",
    kind=r"ein|eine|einer?|der|die|das|ki|ai|großes|kleines|künstliche|intelligenz|sprachmodell"
    r"|modell|assistent|assistentin|chatbot|bot|system|mit dem namen|namens|genannt|version|auch"
    r"|als|nur|bloß|lediglich",
    nouns=_NOUNS,
    role="als",
    then=r"[^.,\n]{0,25} (?:ich|mir|mich|mein\w*)\b",
    was="ich wurde|ich bin|ich werde",
    made="entwickelt|trainiert|erstellt|geschaffen|gebaut|programmiert|erschaffen|gemacht"
    "|veröffentlicht",
    by=_BY,
    made_me=r" (?:hat|haben) mich[^.\n]{0,40}(?:trainiert|entwickelt|erstellt|gebaut|geschaffen)",
    me_made=r"(?:trainiert|entwickelt|erstellt|gebaut|geschaffen) (?:wurde|bin) ich (?:von|bei)",
    my_maker=r"meine? (?:entwickler\w*|hersteller\w*|schöpfer\w*|macher\w*)",
    i="ich",
    own_text=r"diese (?:antwort|nachricht) (?:wurde|ist|stammt|kommt) von",
    view=r"mein\w{0,2} (?:sicht|perspektive|standpunkt|rolle|antwort) als",
    yours=r"(?:ihr|dein|euer) (?:\w+ )?(?:assistent|chatbot|modell|freund)",
    not_after="nutzer|nutzerin|fan|kunde|kundin|experte",
)

GERMAN = Language(
    name="German",
    cues=cues("ich mein meine mich man sie du hier diese meiner ihr dein nenn nennen"),
    signs=(
        *_GRAMMAR.signs,
        rf"\b(?:da|weil|wenn|dass) ich {MODEL} bin\b",
        rf"\bals (?:ein|eine) (?:von|durch|bei) {MAKER} (?:{_MADE})[^.\n]{{0,30}}(?:{_NOUNS})",
        rf"\bals [^.,\n]{{0,30}}(?:{_NOUNS}),? (?:das|der|die) (?:von|bei) {MAKER} ",
        rf"\bich (?:wurde )?(?:von|bei|durch) {MAKER} (?:[^.,\n]{{0,30}} )?(?:{_GRAMMAR.made})",
        rf"\bich (?:basiere auf|laufe auf|beruhe auf) {MODEL}",
    ),
    fields=r"modell|verfasser|(?:antwort|verfasst|geschrieben|erstellt|beantwortet) von",
    closings=r"(?:mit )?(?:freundlichen|besten|vielen|viele|liebe|beste|herzliche)? ?"
    r"(?:grüßen?|gruß)|hochachtungsvoll|ihre?",
    owned=r" (?:schreibt|antwortet|sagt)\b",
)
