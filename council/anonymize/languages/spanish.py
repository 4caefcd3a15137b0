"""Spanish."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import MAKER, MODEL

_MADE = (
    r"(?:cread|entrenad|desarrollad|diseñad|construid|fabricad|programad|publicad|lanzad"
    r"|hech)[oa]s?"
)

_GRAMMAR = Grammar(
    named=r"soy|solo soy|me llamo|mi nombre es|me llaman|puede llamarme"
    r"|puedes llamarme|le habla|te habla"
    r"|(?:está|estás) hablando con|habla con|como soy|siendo",
    here="aquí|aquí está",
    kind=r"una?|el|la|su|tu|ia|ai|asistente|modelo|de|lenguaje|gran|pequeño|chatbot|bot"
    r"|inteligencia|artificial|sistema|nombre|llamad[oa]|conversacional|versión|yo|también|solo"
    r"|sólo|simplemente",
    nouns="modelo|sistema|asistente|ia|chatbot|bot|inteligencia",
    role="como|en calidad de",
    then=r",? yo\b|, (?:no \w*[^\W\daeiou]o|no sé|no soy|me|mi|(?!todo|mucho|cuando|otro"
    r"|uno)\w{2,}(?:[^\W\daeiou]o|ría|ré)|soy)\b",
    was="fui|he sido|soy",
    made=_MADE,
    by="por|en|de",
    made_me=r" me (?:entrenó|creó|desarrolló|diseñó|construyó|ha creado|ha entrenado)",
    me_made=r"me (?:entrenó|creó|desarrolló|diseñó|construyó|ha creado|han creado en|crearon en)",
    my_maker=r"mis? (?:creador|desarrollador|fabricante|diseñador)(?:a|as|es)?",
    i="yo",
    view=r"mi (?:punto de vista|opinión|perspectiva|papel|respuesta) (?:como|de)",
    yours=r"(?:su|tu) (?:asistente|modelo|amigo)",
    own_text=r"esta (?:respuesta|nota) (?:fue|ha sido|es) \w{4,12} (?:por|con)",
)

SPANISH = Language(
    name="Spanish",
    cues=cues("soy su tu aquí yo me mi mis fui como he está estás habla siendo esta calidad"),
    signs=(*_GRAMMAR.signs, rf"\b(?:me baso en|funciono con) {MODEL}", rf"\bde {MAKER}, soy\b"),
    fields=r"modelo|autor|respuesta de|(?:escrito|redactado|generado|respondido) por",
    closings=r"(?:un )?(?:cordial(?:es)? )?saludos?|atentamente|cordialmente|un abrazo|su|tu",
)
