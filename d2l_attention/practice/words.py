"""What practice says to readers, in the language that D2L_LANGUAGE names.

What has no translation is said in English. A catalog takes what stands in `say("...")` and
`worded("...")`, so that must be one literal, outside of f-strings, with fields for what changes:

    say("Your answer is right on {count} inputs.").format(count=8)

What displays such texts puts `composed()` into the metadata of its output, to be translated.
"""

import functools
import gettext
import os
import re
from pathlib import Path

VARIABLE = "D2L_LANGUAGE"
HERE = Path(__file__).parent
CATALOGS = HERE.parent / "locale"
SAID = re.compile(r'\bsay\("([^"]*)"')  # in a script
RECORD: dict[str, list] = {}  # what has been composed and not yet displayed


class Said(str):
    """A text in the reader's language; `format` notes its message and what is in the fields."""

    message: str

    def format(self, **fields: object) -> str:
        text = super().format(**fields)
        values = {name: str(getattr(value, "message", value)) for name, value in fields.items()}
        RECORD[text] = [self.message, values]
        return text


def composed() -> dict[str, list]:
    """Return the texts composed since the last call, each with its message and its fields."""
    record = dict(RECORD)
    RECORD.clear()
    return record


@functools.cache
def catalog(language: str) -> gettext.NullTranslations:
    return gettext.translation("practice", CATALOGS, [language], fallback=True)


def say(text: str) -> Said:
    """Return a text in the reader's language; "" would be the head of a catalog."""
    said = Said(text and catalog(os.environ.get(VARIABLE, "en")).gettext(text))
    said.message = text
    return said


def worded(text: str) -> str:
    """Mark a text that is said later."""
    return text


def script_words(name: str) -> dict[str, str]:
    """Return what a script of this folder says: message -> its words, which go along as data."""
    script = (HERE / name).read_text(encoding="utf-8")
    return {text: say(text) for text in SAID.findall(script)}
