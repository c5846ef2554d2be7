"""How hypothesis draws examples in the tests of every framework: the same ones at every run."""

import os

from hypothesis import Phase, settings

settings.register_profile("book", derandomize=True, deadline=None, database=None, max_examples=60)
settings.register_profile("mutants", settings.get_profile("book"), phases=[Phase.generate])
settings.load_profile(os.environ.get("D2L_TEST_PROFILE", "book"))
