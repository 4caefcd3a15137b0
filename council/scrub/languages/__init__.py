"""The languages in which an answer is caught saying who wrote it."""

from council.scrub.languages.arabic import ARABIC
from council.scrub.languages.chinese import CHINESE
from council.scrub.languages.english import ENGLISH
from council.scrub.languages.french import FRENCH
from council.scrub.languages.german import GERMAN
from council.scrub.languages.hindi import HINDI
from council.scrub.languages.hungarian import HUNGARIAN
from council.scrub.languages.italian import ITALIAN
from council.scrub.languages.japanese import JAPANESE
from council.scrub.languages.korean import KOREAN
from council.scrub.languages.language import Language
from council.scrub.languages.polish import POLISH
from council.scrub.languages.portuguese import PORTUGUESE
from council.scrub.languages.russian import RUSSIAN
from council.scrub.languages.spanish import SPANISH
from council.scrub.languages.turkish import TURKISH

__all__ = ["LANGUAGES", "Language"]

LANGUAGES = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    HUNGARIAN,
    POLISH,
    RUSSIAN,
    TURKISH,
    CHINESE,
    JAPANESE,
    KOREAN,
    ARABIC,
    HINDI,
)
