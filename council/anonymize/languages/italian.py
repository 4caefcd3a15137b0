"""Italian."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import MODEL

_MADE = (
    r"(?:creat|addestrat|sviluppat|progettat|costruit|realizzat|programmat|pubblicat"
    r"|rilasciat|fatt)[oai]"
)

_GRAMMAR = Grammar(
    named=r"sono|mi chiamo|il mio nome è|mi chiamano|può chiamarmi|puoi chiamarmi"
    r"|qui parla"
    r"|(?:sta|stai) parlando con|essendo",
    here="qui|qui è",
    kind=r"una?|uno|il|la|lo|l|un|suo|tuo|ia|ai|assistente|modello|linguistico|di|linguaggio"
    r"|grande|piccolo|chatbot|bot|intelligenza|artificiale|sistema|nome|chiamat[oa]|versione|io"
    r"|anche|solo"
    r"|soltanto|semplicemente",
    nouns="modello|sistema|assistente|ia|chatbot|bot|intelligenza",
    role="come|in quanto|in qualità di",
    then=r",? io\b|, (?:non (?:posso|ho|sono|so|\w*[dc]o)|mi|il mio|la mia|(?!tutto|molto|quando"
    r"|altro|uno)\w{2,}(?:[^\W\daeiou]o|rei|rò|co|do))\b",
    was="sono stat[oa]|venni|sono",
    made=_MADE,
    by="da|dalla|presso|di",
    made_me=rf" mi ha (?:{_MADE})",
    me_made=rf"mi (?:ha|hanno) (?:{_MADE}) ?(?:in|da)?",
    my_maker=r"(?:il mio|i miei) (?:creator|sviluppator|produttor|progettist)\w{1,2}",
    i="io",
    view=r"(?:mio|mia) (?:punto di vista|opinione|prospettiva|ruolo|risposta) (?:come|di)",
    yours=r"(?:suo|tuo|vostro) (?:assistente|modello|amico)",
    own_text=r"questa risposta (?:è stata|è) \w{4,12} (?:da|con)",
)

ITALIAN = Language(
    name="Italian",
    cues=cues("sono suo tuo vostro io mi mio miei come quanto qualità essendo sta stai qui questa"),
    signs=(*_GRAMMAR.signs, rf"\b(?:mi baso su|funziono con) {MODEL}"),
    fields=r"modello|autore|risposta di|(?:scritto|redatto|generato) da",
    closings=r"(?:un )?(?:cordiali |cordiale |distinti )?salut[oi]|cordialmente|un abbraccio"
    r"|il suo|il tuo",
)
