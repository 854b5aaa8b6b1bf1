"""Sessions whose Parquet files are encrypted, as those of Delta tables are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.exceptions import UnsupportedFeature

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ensure_no_encryption"]

_SETTING = "parquet.crypto.factory.class"


def ensure_no_encryption(session: SparkSession) -> None:
    """Verifies that a session does not ask for encrypted files, which would be written in plain text.

    Raises:
        UnsupportedFeature: It does.
    """
    for name in (_SETTING, f"spark.hadoop.{_SETTING}"):
        if session.conf.get(name, None):
            raise UnsupportedFeature(
                f"the session encrypts Parquet files (its setting {name}), which deltaic does not",
                context={"feature": "Parquet encryption"},
                hint=f"unset {name} to write the files without encryption",
            )
