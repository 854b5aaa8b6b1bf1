"""Sessions whose Parquet files are encrypted, as those of Delta tables are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import UnsupportedFeature

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

__all__ = ["ensure_no_encryption"]

_FACTORY = "parquet.crypto.factory.class"
# The factory of Parquet encrypts only with keys; others may have their own.
_BY_KEYS = "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory"
_KEYS = tuple(f"parquet.encryption.{name}" for name in ("footer.key", "column.keys", "uniform.key"))


def ensure_no_encryption(session: SparkSession) -> None:
    """Verifies that a session does not ask for encrypted files, which would be written in plain text.

    Raises:
        UnsupportedFeature: It does.
    """
    setting = _settings(session)
    factory = setting(_FACTORY)
    if not factory:
        return
    found = next((name for name in _KEYS if setting(name)), None if factory == _BY_KEYS else _FACTORY)
    if found is not None:
        raise UnsupportedFeature(
            f"the session encrypts Parquet files (its setting {found}), which deltaic does not",
            context={"feature": "Parquet encryption"},
            hint=f"unset {found} to write the files without encryption",
        )


def _settings(session: SparkSession) -> Callable[[str], str | None]:
    """Returns a function that looks up a setting of Hadoop."""
    of_java: Any = getattr(session, "_jsparkSession", None)
    if of_java is not None:
        return of_java.sessionState().newHadoopConf().get
    return lambda name: session.conf.get(name, None) or session.conf.get(f"spark.hadoop.{name}", None)
