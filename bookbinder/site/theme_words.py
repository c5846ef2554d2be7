"""The words of Sphinx, of its theme and of our templates, which translated editions say anew."""

from html import escape

from bookbinder.words import Say, worded

WORDS = (
    worded("Color mode"),
    worded("Contents"),
    worded("Dark"),
    worded("Download this chapter as a notebook"),
    worded("Edition"),
    worded("Error"),
    worded("Index"),
    worded("Language"),
    worded("Last changed"),
    worded("Light"),
    worded("Link to this definition"),
    worded("Link to this heading"),
    worded("Notebook"),
    worded("Open this chapter in {name}"),
    worded("Please activate JavaScript to enable the search functionality."),
    worded("Repository"),
    worded("Search"),
    worded("Search Page"),
    worded("Search..."),
    worded("Section Navigation"),
    worded("Site navigation"),
    worded("Skip to main content"),
    worded("Source repository"),
    worded("System Settings"),
    worded("The edition in {name} leaves this chapter out: see what it has"),
    worded("Version warning"),
    worded("module"),
    worded("next"),
    worded("next page"),
    worded("previous"),
    worded("previous page"),
)
# Attributes that the theme's templates say in English alone.
FIXED = (
    worded("Main"),
    worded("Page"),
    worded("Toggle primary sidebar"),
    worded("Toggle secondary sidebar"),
)
# How the index names functions: the pages are finished by these English words.
KEPT = ("%s() (in module %s)", "%s (class in %s)", "%s() (%s method)")


def theme_words(say: Say) -> dict[str, str]:
    """Return what Sphinx and the templates are to say for each of their words."""
    return {word: say(word) for word in WORDS} | {word: word for word in KEPT}


def with_fixed_words(page: str, say: Say) -> str:
    """Return a page with the words that the theme never translates."""
    for word in FIXED:
        page = page.replace(f'="{word}"', f'="{escape(say(word))}"')
    return page
