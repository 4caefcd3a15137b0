"""Portuguese."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import MODEL

_MADE = (
    r"(?:criad|treinad|desenvolvid|projetad|construíd|programad|concebid|publicad|lançad"
    r"|feit)[oa]s?"
)

_GRAMMAR = Grammar(
    named=r"sou|me chamo|chamo-me|meu nome é|chamam-me|pode me chamar de|pode chamar-me"
    r"|aqui fala|(?:está|estás) (?:falando|a falar) com|sendo",
    here="aqui|aqui é",
    kind=r"uma?|o|a|os|as|seu|sua|ia|ai|assistente|modelo|de|linguagem|grande|pequeno|chatbot"
    r"|bot|robô|inteligência|artificial|sistema|nome|chamad[oa]|conversacional|versão|eu|também"
    r"|apenas|só"
    r"|somente",
    nouns="modelo|sistema|assistente|ia|chatbot|bot|inteligência",
    role="como|enquanto|na qualidade de",
    then=r",? eu\b|, (?:não \w*[^\W\daeiou]o|não sei|não sou|me|meu|a minha|minha|(?!todo|muito"
    r"|quando|outro)\w{2,}(?:[^\W\daeiou]o|ria|rei))\b",
    was="fui|tenho sido|sou",
    made=_MADE,
    by="por|pelo|pela|na|no|da|do|de",
    made_me=r" (?:que )?me (?:treinou|criou|desenvolveu|projetou|construiu)",
    me_made=r"me (?:treinou|criou|desenvolveu),? (?:foi )?(?:a|o)?",
    my_maker=r"meus? (?:criador|desenvolvedor|fabricante|projetista)(?:a|as|es)?",
    i="eu",
    view=r"(?:meu|minha) (?:ponto de vista|opinião|perspectiva|papel|resposta) (?:como|de)",
    yours=r"(?:o )?(?:seu|teu) (?:assistente|modelo|amigo)",
    own_text=r"esta resposta (?:foi|é) \w{4,12} (?:por|pelo|pela|com)",
)

PORTUGUESE = Language(
    name="Portuguese",
    cues=cues(
        "sou seu teu eu me meu meus minha fui como enquanto sendo aqui esta está chamo chamam"
    ),
    signs=(*_GRAMMAR.signs, rf"\b(?:baseio-me n[oa]|funciono com) {MODEL}"),
    fields=r"modelo|autor|resposta d[oea]|(?:escrito|redigido|gerado|respondido) (?:por|pelo|pela)",
    closings=r"atenciosamente|cordialmente|abraços?|(?:com os )?(?:melhores )?cumprimentos"
    r"|saudações|seu|sua",
)
