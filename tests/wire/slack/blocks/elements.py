"""Interactive elements, and which of them may stand where."""

from tests.wire.slack.blocks.objects import (
    action_id,
    confirm,
    few_options,
    image,
    option,
    option_groups,
    options,
    plain,
    text,
    url,
)
from tests.wire.slack.blocks.shapes import (
    Check,
    all_of,
    anything,
    choice,
    flag,
    many,
    number,
    one_key_of,
    shape,
    string,
)


def _element(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    common: dict[str, Check] = {"action_id": action_id, "focus_on_load": flag, "confirm": confirm}
    return shape({"type": anything, **required}, {**common, **(optional or {})})


_placeholder: dict[str, Check] = {"placeholder": plain(150)}
_dispatch: dict[str, Check] = {"dispatch_action_config": anything}
_text = string(3000, 0)

_button = shape(
    {"type": anything, "text": plain(75)},
    {
        "action_id": action_id,
        "url": url,
        "value": string(2000),
        "style": choice("primary", "danger"),
        "confirm": confirm,
        "accessibility_label": string(75),
    },
)
_static: dict[str, Check] = {"options": options, "option_groups": option_groups, **_placeholder}
_static_select = all_of(
    _element({}, {**_static, "initial_option": anything}), one_key_of("options", "option_groups")
)
_multi_static_select = all_of(
    _element({}, {**_static, "initial_options": anything, "max_selected_items": number(1)}),
    one_key_of("options", "option_groups"),
)
_overflow = shape(
    {"type": anything, "options": many(option(plain(75)), 5)},
    {"action_id": action_id, "confirm": confirm},
)


def _select(initial: str) -> Check:
    more: dict[str, Check] = {"response_url_enabled": flag, "default_to_current_conversation": flag}
    return _element(
        {},
        {
            **_placeholder,
            **more,
            initial: anything,
            "filter": anything,
            "min_query_length": number(0),
        },
    )


def _multi_select(initial: str) -> Check:
    most: dict[str, Check] = {"max_selected_items": number(1), "filter": anything}
    return _element({}, {**_placeholder, **most, initial: anything})


_plain_text_input = _element(
    {},
    {
        **_placeholder,
        **_dispatch,
        "initial_value": _text,
        "multiline": flag,
        "min_length": number(0, 3000),
        "max_length": number(1, 3000),
    },
)
_number_input = _element(
    {"is_decimal_allowed": flag},
    {
        **_placeholder,
        **_dispatch,
        "initial_value": anything,
        "min_value": anything,
        "max_value": anything,
    },
)
_typed_input = _element({}, {**_placeholder, **_dispatch, "initial_value": _text})
_feedback_button = shape(
    {"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)}
)

feedback_buttons = shape(
    {"type": anything, "positive_button": _feedback_button, "negative_button": _feedback_button},
    {"action_id": action_id},
)
icon_button = shape(
    {"type": anything, "icon": choice("trash"), "text": plain(75)},
    {
        "action_id": action_id,
        "value": string(2000),
        "accessibility_label": string(75),
        "visible_to_user_ids": many(string(20), 10),
        "confirm": confirm,
    },
)

_pickers: dict[str, Check] = {
    "datepicker": _element({}, {**_placeholder, "initial_date": string(10)}),
    "timepicker": _element(
        {}, {**_placeholder, "initial_time": string(5), "timezone": string(255)}
    ),
    "datetimepicker": _element({}, {"initial_date_time": number(0)}),
}
_chosen: dict[str, Check] = {
    "static_select": _static_select,
    "users_select": _select("initial_user"),
    "conversations_select": _select("initial_conversation"),
    "channels_select": _select("initial_channel"),
    "external_select": _select("initial_option"),
    "multi_static_select": _multi_static_select,
    "multi_users_select": _multi_select("initial_users"),
    "multi_conversations_select": _multi_select("initial_conversations"),
    "multi_channels_select": _multi_select("initial_channels"),
    "multi_external_select": _multi_select("initial_options"),
    "radio_buttons": _element({"options": few_options}, {"initial_option": anything}),
    "checkboxes": _element({"options": few_options}, {"initial_options": anything}),
    **_pickers,
}

in_actions: dict[str, Check] = {"button": _button, "overflow": _overflow, **_chosen}
in_section: dict[str, Check] = {
    name: check for name, check in in_actions.items() if name != "datetimepicker"
} | {"image": image}
in_input: dict[str, Check] = {
    **_chosen,
    "plain_text_input": _plain_text_input,
    "number_input": _number_input,
    "email_text_input": _typed_input,
    "url_text_input": _typed_input,
    "file_input": _element({}, {"filetypes": anything, "max_files": number(1, 10)}),
    "rich_text_input": _element({}, {**_placeholder, **_dispatch, "initial_value": anything}),
}
in_context: dict[str, Check] = {
    "image": image,
    "plain_text": text(3000),
    "mrkdwn": text(3000),
}
in_context_actions: dict[str, Check] = {
    "feedback_buttons": feedback_buttons,
    "icon_button": icon_button,
}
INTERACTIVE = frozenset(in_actions) | frozenset(in_input) | frozenset(in_context_actions)
