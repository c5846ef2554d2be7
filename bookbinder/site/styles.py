"""Leave out of a style sheet what no page uses: the theme's holds all of Bootstrap."""

import re

import tinycss2

NESTED = ("media", "supports")
CLASSES = re.compile(r'class="([^"]*)"')
WORDS = re.compile(r"[\w-]+")


def classes_of(pages: list[str], scripts: list[str]) -> set[str]:
    """Return the classes of some pages, and every word of the scripts, which may set more."""
    named = {name for page in pages for found in CLASSES.findall(page) for name in found.split()}
    return named.union(*(WORDS.findall(script) for script in scripts))


def used_only(style_sheet: str, classes: set[str]) -> str:
    """Return a style sheet without the rules that need a class which is not among `classes`."""
    return rules_used(tinycss2.parse_stylesheet(style_sheet, True, True), classes)


def rules_used(rules: list, classes: set[str]) -> str:
    kept = []
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in NESTED:
            inner = rules_used(tinycss2.parse_rule_list(rule.content, True, True), classes)
            head = f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}"
            kept += [f"{head}{{{inner}}}"] * bool(inner)
        elif rule.type == "qualified-rule":
            selectors = [s for s in selectors_of(rule.prelude) if needed_by(s) <= classes]
            head = ",".join(tinycss2.serialize(selector).strip() for selector in selectors)
            kept += [f"{head}{{{tinycss2.serialize(rule.content)}}}"] * bool(selectors)
        else:  # fonts, animations
            kept.append(rule.serialize())
    return "".join(kept)


def selectors_of(prelude: list) -> list[list]:
    """Return the selectors of a rule, which commas part."""
    selectors: list[list] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def needed_by(selector: list) -> set[str]:
    """Return the classes without which a selector finds nothing; those in :not() do not count."""
    dots = (token.type == "literal" and token.value == "." for token in selector)
    after = zip(dots, selector[1:], strict=False)
    return {token.value for dot, token in after if dot and token.type == "ident"}
