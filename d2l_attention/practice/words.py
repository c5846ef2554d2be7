"""What practice says to readers, in the language that D2L_LANGUAGE names.

What has no translation is said in English. A catalog takes what stands in `say("...")` and
`worded("...")`, so that must be one literal, outside of f-strings, with fields for what changes:

    say("Your answer is right on {count} inputs.").format(count=8)
"""

import functools
import gettext
import os
import re
from collections.abc import Callable
from pathlib import Path

VARIABLE = "D2L_LANGUAGE"
HERE = Path(__file__).parent
CATALOGS = HERE.parent / "locale"
SAID = re.compile(r'\bsay\("([^"]*)"')  # in a script


@functools.cache
def catalog(language: str) -> gettext.NullTranslations:
    return gettext.translation("practice", CATALOGS, [language], fallback=True)


def say(text: str) -> str:
    """Return a text in the reader's language; "" would be the head of a catalog."""
    return text and catalog(os.environ.get(VARIABLE, "en")).gettext(text)


def worded(text: str) -> str:
    """Mark a text that is said later."""
    return text


def script_words(name: str, say: Callable[[str], str] = say) -> dict[str, str]:
    """Return what a script of this folder says: message -> its words, which go along as data."""
    script = (HERE / name).read_text(encoding="utf-8")
    return {text: say(text) for text in SAID.findall(script)}
