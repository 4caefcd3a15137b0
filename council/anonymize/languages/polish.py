"""Polish."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import MODEL

_MADE = (
    r"(?:stworzon|wytrenowan|opracowan|zaprojektowan|zbudowan|rozwijan|wydan|zrobion)(?:y|a|ą"
    r"|e|ym|ego)"
)

_GRAMMAR = Grammar(
    named=r"jestem|nazywam się|mam na imię|na imię mi|moje imię to|mówi|będąc|rozmawiasz z"
    r"|rozmawia (?:pan|pani) z",
    here="tu|tutaj",
    kind=r"modelem|model|językowym|językowy|asystentem|asystent|asystentką|chatbotem|system"
    r"|systemem|ai|si"
    r"|sztuczną|sztuczna|inteligencją|inteligencja|o|nazwie|imieniu|dużym|duży|wersją|też|także"
    r"|tylko|jedynie",
    nouns="model|system|asystent|ai|chatbot|inteligencj",
    role="jako",
    then=r"(?:'\w{1,3})?,? (?:nie |ja |też )?(?:\w+(?:ę|łbym|łabym|am|em)|mogę|moj\w+)\b",
    was="zostałe?a?m|jestem|byłe?a?m",
    made=_MADE,
    by="przez|od|w|firmy",
    made_me=r" (?:stworzy|wytrenowa|opracowa|zbudowa)ł[oay]? mnie",
    me_made=r"(?:stworzył|wytrenował|opracował|zbudował)[oay]? mnie(?: firma)?",
    my_maker=r"(?:mój|moi|moim) (?:twórc|producen|programi|autor)\w{1,5}",
    i="ja",
    view=r"moj\w{1,3} (?:punktu widzenia|zdaniem|perspektywy),? jako",
    yours=r"(?:pański|pani|twój|wasz) (?:asystent|model)",
    own_text=r"tę odpowiedź (?:napisał|wygenerował|przygotował)[oa]?|ta odpowiedź została"
    r" \w{5,14} przez",
)

POLISH = Language(
    name="Polish",
    cues=cues(
        "jestem tu tutaj moim mojego mojej pański pani twój wasz jako nazywam mam imię moje mój "
        "moi zostałem zostałam mnie ja tę ta będąc mówi "
        "rozmawiasz rozmawia"
    ),
    signs=(
        *_GRAMMAR.signs,
        rf"\bdziałam na {MODEL}",
    ),
    fields=r"model|autor|odpowiedź od|odpowiedź|(?:napisane|wygenerowane|napisał) ?(?:przez)?",
    closings=r"z poważaniem|(?:serdecznie )?pozdrawiam|pozdrowienia|z wyrazami szacunku|twój",
)
