"""Files that come with a question: texts, and images for the models that can see them."""

from dataclasses import dataclass

MAX_FILES = 10
MAX_TOTAL_BYTES = 10_000_000
MAX_IMAGE_BYTES = 5_000_000
MAX_TEXT_CHARACTERS = 200_000  # of one file
MAX_PDF_PAGES = 200
IMAGE_TOKENS = 3_000  # more than providers count for an image of any size


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of a question: its text, or for an image its bytes in `data`, as Base64."""

    name: str
    media_type: str
    text: str = ""
    data: str = ""

    @property
    def is_image(self) -> bool:
        """Whether only models with vision can take it in."""
        return self.media_type.startswith("image/")

    @property
    def data_url(self) -> str:
        """The image as a `data:` URL."""
        return f"data:{self.media_type};base64,{self.data}"
