"""The options of a stream, and the limits of its batches."""

from __future__ import annotations

import pytest

import deltaic
from deltaic.spark.stream.budget import Budget
from deltaic.spark.stream.options import Limits, StreamOptions


@pytest.mark.parametrize(
    ("limits", "sizes", "taken"),
    [
        (Limits(), [5, 5, 5], 3),
        (Limits(max_files=2), [5, 5, 5], 2),
        (Limits(max_bytes=1), [5, 5, 5], 1),
        (Limits(max_bytes=6), [5, 5, 5], 2),
        (Limits(max_files=1), [None, 5, None, 5], 3),
        (Limits(max_files=1), [], 0),
    ],
)
def test_limits(limits: Limits, sizes: list[int | None], taken: int) -> None:
    assert Budget(limits).take(sizes) == taken


def test_versions_of_one_batch_are_delivered_together_or_later() -> None:
    budget = Budget(Limits(max_files=3))
    assert budget.take_all([5, 5, 5, 5]) == 4, "the first ones always come"
    assert budget.take_all([5]) == 0
    budget = Budget(Limits(max_files=3))
    assert [budget.take_all([5, 5]), budget.take_all([5, 5]), budget.take_all([5])] == [2, 0, 1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"maxFilePerTrigger": "3"}, "did you mean 'maxFilesPerTrigger'"),
        ({"versionAsOf": "3"}, "a stream takes"),
        ({"maxFilesPerTrigger": "0"}, "at least 1"),
        ({"maxFilesPerTrigger": "few"}, "whole number"),
        ({"maxBytesPerTrigger": "10 apples"}, "number of bytes"),
        ({"startingVersion": "-1"}, "must be at least 0"),
        ({"startingVersion": "newest"}, "'latest'"),
        ({"startingVersion": "1", "startingTimestamp": "2026-11-01T00:00:00Z"}, "not both"),
        ({"ignoreDeletes": "yes"}, "true or false"),
        ({"excludeRegex": "("}, "regular expression"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        StreamOptions.parse({"path": "t", **options})


def test_options_in_any_case() -> None:
    parsed = StreamOptions.parse(
        {
            "PATH": "s3://b/t",
            "maxbytespertrigger": "10m",
            "FAILONDATALOSS": "False",
            "aws_region": "eu-west-1",
        }
    )
    assert parsed.limits == parsed.default_limits == Limits(max_bytes=10 << 20)
    assert not parsed.fail_on_data_loss
    assert parsed.storage_options == {"aws_region": "eu-west-1"}
    assert StreamOptions.parse({"path": "t"}).default_limits == Limits(max_files=1000)
    with pytest.raises(deltaic.UnsupportedFeature, match="schemaTrackingLocation"):
        StreamOptions.parse({"path": "t", "schematrackinglocation": "x"})
