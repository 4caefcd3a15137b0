"""The shape of `[access]` in `council.toml`, and the policy it makes."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from bot.access import Access, ChannelRules, allows
from bot.settings.council_toml import Part
from council.money import cap_micro
from council.panel import Panel
from council.places import Place


class ChannelSection(Part):
    """What goes for one channel, under its id."""

    panel: str | None = None
    vendors: tuple[str, ...] = ()
    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class WorkspaceSection(Part):
    """What goes for one workspace of Slack, or server of Discord, under its id."""

    rounds_at_once: int | None = Field(None, ge=1)
    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class AccessSection(Part):
    """Who may ask where, and how often; `in` names channels by their ids."""

    channels: tuple[str, ...] | None = None
    admins: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    shared_channels: bool = False
    guests: bool = False
    direct_messages: bool = True
    rounds_per_hour: int | None = Field(None, ge=1)
    rounds_per_day: int | None = Field(None, ge=1)
    rounds_at_once: int | None = Field(None, ge=1)
    in_: dict[str, ChannelSection] = Field(default_factory=dict, alias="in")
    workspaces: dict[str, WorkspaceSection] = Field(default_factory=dict)


def access_of(section: AccessSection) -> Access:
    """Give the policy that a section describes."""
    rules = {
        channel: ChannelRules(found.panel, found.vendors) for channel, found in section.in_.items()
    }
    at_once = {
        workspace: found.rounds_at_once
        for workspace, found in section.workspaces.items()
        if found.rounds_at_once is not None
    }
    plain = section.model_dump(exclude={"in_", "workspaces"})
    return Access(rules=rules, workspaces=at_once, **plain)


def channel_caps(section: AccessSection) -> dict[str, int]:
    """Give the caps of single channels a day, by the channels' ids."""
    return _caps({channel: found.day_usd for channel, found in section.in_.items()})


def workspace_caps(section: AccessSection) -> dict[str, int]:
    """Give the caps of single workspaces a day, by the workspaces' ids."""
    return _caps({workspace: found.day_usd for workspace, found in section.workspaces.items()})


def _caps(given: Mapping[str, float | None]) -> dict[str, int]:
    return {id_: cap_micro(usd) for id_, usd in given.items() if usd is not None}


def faults_in(
    access: Access, panels: Mapping[str, Panel], known: Mapping[str, object]
) -> Iterator[str]:
    """Give what is wrong with the panels that channels name; `known` are unsound ones too."""
    for channel, rules in access.rules.items():
        if rules.panel is None:
            continue
        where = f"access.in.{channel}.panel"
        if rules.panel not in known:
            yield f"{where}: there is no panel {rules.panel!r}."
        elif rules.panel in panels and not allows(
            access, Place("", channel=channel), panels[rules.panel]
        ):
            vendors = ", ".join(rules.vendors)
            yield f"{where}: {rules.panel!r} also seats models of others than {vendors}."
