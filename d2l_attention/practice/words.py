"""What practice says to readers, in the language that D2L_LANGUAGE names.

What has no translation is said in English. A catalog takes what stands in `say("...")` and
`worded("...")`, so that must be one literal, outside of f-strings, with fields for what changes:

    say("Your answer is right on {count} inputs.").format(count=8)
"""

import functools
import gettext
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

VARIABLE = "D2L_LANGUAGE"
HERE = Path(__file__).parent
CATALOGS = HERE.parent / "locale"
# In a script: say("..."), say(`...`), or in a template itself ${say(`...`)}.
SAID = re.compile(r'say\("([^"]*)"\)|\$\{say\(`([^`]*)`\)\}|say\(`([^`]*)`\)')
EXPRESSION = re.compile(r"\$\{(\w+)[^}]*\}")  # its first name is the field's


@functools.cache
def catalog(language: str) -> gettext.NullTranslations:
    return gettext.translation("practice", CATALOGS, [language], fallback=True)


def say(text: str) -> str:
    """Return a text in the reader's language; "" would be the head of a catalog."""
    return text and catalog(os.environ.get(VARIABLE, "en")).gettext(text)


def worded(text: str) -> str:
    """Mark a text that is said later."""
    return text


def script_messages(script: str) -> list[str]:
    """Return what a script says, with `{n}` for `${n + 1}`."""
    said = ["".join(filter(None, found)) for found in SAID.findall(script)]
    return [m for text in said for m in (EXPRESSION.sub(r"{\1}", text), *script_messages(text))]


def script_with_words(script: str, say: Callable[[str], str] = say) -> str:
    """Return a script with words in place of each say("..."): it needs no catalog in the page."""

    def words_of(found: re.Match) -> str:
        string, inner, template = found.groups()
        if string is not None:
            return json.dumps(say(string), ensure_ascii=False)
        text = template if inner is None else inner
        fields = {part[1]: script_with_words(part[0], say) for part in EXPRESSION.finditer(text)}
        said = re.sub(r"([\\`])", r"\\\1", say(EXPRESSION.sub(r"{\1}", text)))
        said = re.sub(r"\{(\w+)\}", lambda field: fields.get(field[1], field[0]), said)
        return said if template is None else f"`{said}`"

    return SAID.sub(words_of, script)
