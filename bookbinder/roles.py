"""The roles of a chapter's parts, and the English words by which the source shows each.

No other file finds a section, a label or a fold by a word. A line of a translated chapter has the
role of its English (`Chapter.roles`).
"""

ROLES = {  # a heading is the whole line; anything else, how the line begins
    "# ": "title",
    "> **The question.**": "question",
    "**You will learn**": "learn",
    "**You need**": "need",
    "**Time**": "time",
    "> **Note.**": "note",
    "## Exercises": "exercises",
    "## Summary": "summary",
    "## References": "references",
    "<summary>Hint": "hint",
    "<summary>Solution": "solution",
    "<summary>Answer": "answer",
    "<summary>What to read": "route",
}
WORDS = {role: words for words, role in ROLES.items()}
OPENING = ("question", "learn", "need")  # what stands under every title, before the time


def role_of(line: str) -> str:
    """Return the role of a line of English prose, or nothing."""
    begun = (role for words, role in ROLES.items() if words[:2] != "##" and line.startswith(words))
    return ROLES.get(line.rstrip()) or next(begun, "")
