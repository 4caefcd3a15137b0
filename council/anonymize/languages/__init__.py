"""The languages in which self-identification is recognized, one module each."""

from council.anonymize.languages.arabic import ARABIC
from council.anonymize.languages.chinese import CHINESE
from council.anonymize.languages.english import ENGLISH
from council.anonymize.languages.french import FRENCH
from council.anonymize.languages.german import GERMAN
from council.anonymize.languages.hindi import HINDI
from council.anonymize.languages.hungarian import HUNGARIAN
from council.anonymize.languages.italian import ITALIAN
from council.anonymize.languages.japanese import JAPANESE
from council.anonymize.languages.korean import KOREAN
from council.anonymize.languages.language import Language
from council.anonymize.languages.polish import POLISH
from council.anonymize.languages.portuguese import PORTUGUESE
from council.anonymize.languages.russian import RUSSIAN
from council.anonymize.languages.spanish import SPANISH
from council.anonymize.languages.turkish import TURKISH

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
