"""What Slack takes, in Slack's own numbers, and the margins we keep to them."""

BLOCKS = 50
MODAL_BLOCKS = 95  # Slack's 100, less what a modal's own row of buttons needs
MODAL_JSON = 40_000
# Others measured that more than about 13,200 characters of blocks are refused, and not what counts.
MESSAGE_JSON = 12_000

TEXT = 40_000  # what `text` may hold where it is all there is
SUMMARY = 300

HEADER = 150
BOLD_HEADING = 600  # our own: more than this is no heading
RICH_ELEMENT = 3_000
CONTEXT_ELEMENTS = 10
PLAIN_TEXT = 3_000
LIST_INDENT = 8

ACTIONS = 25
BUTTON_LABEL = 75
BUTTON_VALUE = 2_000
ACTION_ID = 255
URL = 2_000
ALT_TEXT = 1_000  # of a picture
CALLED = 50  # our own: people one message calls

TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_TEXT = 9_500
DATA_TABLE_ROWS = 101  # with the header; newer pages say 201
DATA_TABLE_PAGE = 20

PLAN_TASKS = 50
PLAN_TITLE = 256
TASK_TITLE = 150
