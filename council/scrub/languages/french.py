"""French."""

from council.scrub.languages.language import Grammar, Language, cues
from council.scrub.mentions import ANY, MAKER, MODEL

_MADE = (
    r"(?:créé|entraîné|développé|conçu|construit|fabriqué|programmé|formé)(?:e|es|s)?"
)

_GRAMMAR = Grammar(
    named=r"je suis|je m'appelle|mon nom est|je me nomme|on m'appelle|appelez-moi|moi, c'est"
    r"|c'est moi,|vous parlez (?:à|avec)|ici",
    kind=r"une?|le|la|l|les|votre|ia|ai|assistant|assistante|modèle|langage|langue|grand|petit"
    r"|chatbot|robot|intelligence|artificielle|de|conversationnel|nommée?|appelée?|version|aussi",
    nouns="modèle|assistant|ia|chatbot|robot|intelligence",
    role=r"en tant que|en tant qu'|en qualité de|en qualité d'|étant",
    then=rf",(?! ?{ANY})| (?:je|j'|moi|mon|ma)\b",
    was=r"j'ai été|je fus|je suis",
    made=_MADE,
    by=r"par|chez|de|d'",
    made_me=rf"[^.\n]{{0,4}} (?:m'a|m'ont|qui m'a|qui m'ont) {_MADE}",
    me_made=rf"(?:m'a|m'ont) {_MADE},? (?:c'est|par|chez)",
    my_maker=r"m(?:on|a|es) (?:créateur|concepteur|développeur|fabricant|entraîneur)s?",
    i="moi",
    own_text=r"cette (?:réponse|note) (?:a été|est|fut) \w{4,12} (?:par|avec)",
)

FRENCH = Language(
    name="French",
    cues=cues("je j moi mon ma mes m vous tant qualité étant ici cette on appelez"),
    signs=(
        *_GRAMMAR.signs,
        rf"\b(?:comme|puisque) je suis {MODEL}",
        rf"\bc'est {MAKER} qui m'(?:a|ont)\b",
        rf"\bje (?:repose sur|fonctionne avec|tourne sur) {MODEL}",
    ),
    fields=r"modèle|auteur|réponse de|(?:écrit|rédigé|généré|répondu) par",
    closings=r"cordialement|bien à (?:vous|toi)|salutations|amicalement|sincèrement"
    r"|bien cordialement|votre",
)
