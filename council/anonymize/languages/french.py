"""French."""

from council.anonymize.languages.language import Grammar, Language, cues
from council.anonymize.names import ANY, MAKER, MODEL

_MADE = (
    r"(?:créé|entraîné|développé|conçu|construit|fabriqué|programmé|formé|publié|lancé"
    r"|fait)(?:e|es|s)?"
)

_GRAMMAR = Grammar(
    named=r"je suis|je ne suis que|je m'appelle|mon nom est|je me nomme|on m'appelle|appelez-moi"
    r"|moi, c'est|c'est moi,|vous parlez (?:à|avec)",
    here="ici",
    kind=r"une?|le|la|l|les|votre|ia|ai|assistant|assistante|modèle|langage|langue|grand|petit"
    r"|chatbot|robot|intelligence|artificielle|de|conversationnel|système|du|nom|d|simplement"
    r"|juste|seulement"
    r"|nommée?|appelée?|version|aussi",
    nouns="modèle|système|assistant|ia|chatbot|robot|intelligence",
    role=r"en tant que|en tant qu'|en qualité de|en qualité d'|étant",
    then=rf",(?! ?{ANY})| (?:je|j'|moi|mon|ma)\b",
    was=r"j'ai été|je fus|je suis",
    made=_MADE,
    by=r"par|chez|de|d'",
    made_me=rf"[^.\n]{{0,4}} (?:m'a|m'ont|qui m'a|qui m'ont) {_MADE}",
    me_made=rf"(?:m'a|m'ont) {_MADE},? (?:c'est|par|chez)",
    my_maker=r"m(?:on|a|es) (?:créateur|concepteur|développeur|fabricant|entraîneur)s?",
    i="moi",
    view=r"(?:mon|ma) (?:point de vue|avis|rôle|réponse) (?:de|d'|en tant que|comme)",
    yours=r"(?:votre|ton) (?:assistant|modèle|ami)",
    own_text=r"cette (?:réponse|note) (?:a été|est|fut) \w{4,12} (?:par|avec)",
)

FRENCH = Language(
    name="French",
    cues=cues("votre ton je j moi mon ma mes m vous tant qualité étant ici cette on appelez"),
    signs=(
        *_GRAMMAR.signs,
        rf"\b(?:comme|puisque) je suis {MODEL}",
        rf"\bc'est {MAKER} qui m'(?:a|ont)\b",
        rf"\bje (?:repose sur|fonctionne avec|tourne sur) {MODEL}",
    ),
    fields=r"modèle|auteur|réponse de|(?:écrit|rédigé|généré|répondu) par",
    closings=r"(?:(?:avec|toutes|mes|bien|sincères) ){0,3}(?:cordialement|salutations)"
    r"|bien à (?:vous|toi)|amicalement|sincèrement|votre",
)
