"""Time zones by their IANA names, as people write them."""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from zoneinfo import available_timezones

UTC = "UTC"
_NEAR_ZONE, _NEAR_CITY = 0.7, 0.8  # how alike a name must be to have been meant
_NO_PLACES = {"Factory", "localtime", "posixrules"}
_OLD_NAMES = {"Brazil", "Canada", "Chile", "Etc", "Mexico", "SystemV", "US"}


def zone_named(word: str) -> str | None:
    """Give a zone under its own name, whatever capitals it is written in; None for no zone."""
    return _zones().get(word.casefold())


def nearest_zone(word: str) -> str | None:
    """Give the zone that was most likely meant: one spelt like it, or whose city is."""
    plain = word.casefold()
    if "/" in plain and (found := _nearest(plain, _zones(), _NEAR_ZONE)):
        return found
    # Short names are all alike: PST is no misspelt EST.
    return _nearest(plain.rpartition("/")[2], _cities(), _NEAR_CITY)


def _nearest(word: str, names: Mapping[str, str], near: float) -> str | None:
    found = get_close_matches(word, names, n=1, cutoff=near)
    return names[found[0]] if found else None


@cache
def _zones() -> Mapping[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones() - _NO_PLACES)}


@cache
def _cities() -> Mapping[str, str]:
    """Give the zones that are named for a city, by the city's name."""
    cities: dict[str, str] = {}
    for name in _zones().values():
        region, _, city = name.rpartition("/")
        if region and region not in _OLD_NAMES:
            cities.setdefault(city.casefold(), name)
    return cities
