"""What a site must know of a language: its own name, its tag, and its words in Sphinx's theme."""

from bookbinder.config import ENGLISH

NAMES = {
    ENGLISH: "English",
    "zh": "中文",
    "ko": "한국어",
    "vi": "Tiếng Việt",
    "id": "Bahasa Indonesia",
}
TAGS = {"zh": "zh-CN"}  # other tags are the names of the folders


def tag_of(language: str) -> str:
    """Return a language as HTML names it."""
    return TAGS.get(language, language)
