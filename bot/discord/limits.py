"""What Discord takes, in Discord's own numbers, and the margins we keep to them."""

COMPONENTS = 40  # of one message, nested ones counted
TEXT = 4_000  # characters of all texts of one message
# Discord fails beyond 10,170 of these, so that a message of emoji is refused before 4,000.
WEIGHT = 10_000
WEIGHT_OF_TEXT = 12  # what a text counts for beside its bytes

ROW = 5
BUTTON_LABEL = 80
CUSTOM_ID = 100
URL = 2_000
FILE_NAME = 100
DESCRIPTION = 256  # of a picture
CALLED = 50  # our own: people one message calls

HEADING = 150  # our own: a longer title is bold text
BOLD_HEADING = 600  # our own: more than this is no heading
LIST_DEPTH = 8  # our own: deeper lists stay there
NARROW = 28  # columns of a font of one width that a phone shows
