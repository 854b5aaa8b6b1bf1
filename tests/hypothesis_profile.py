"""The settings of Hypothesis: the same cases in every process of the same files, whatever else it imports."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.seed import DEFAULT, current_seed

NAME = "deltaic"


def load() -> None:
    """Registers and loads the profile; with a seed of its own, a run draws other cases by that seed."""
    settings.register_profile(
        NAME,
        derandomize=current_seed() == DEFAULT,
        database=None,
        deadline=None,
        print_blob=True,
        # On a busy machine, drawing is slow.
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(NAME)
    # Otherwise Hypothesis draws constants of all modules of the project that happen to be imported.
    providers.is_local_module_file = lambda _: False
