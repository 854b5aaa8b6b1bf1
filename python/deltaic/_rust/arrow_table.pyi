from typing import final

from deltaic.capsule import ArrowSchemaExportable

@final
class ArrowTable:
    """Materialised Arrow data."""

    @property
    def num_rows(self) -> int: ...
    @property
    def schema(self) -> ArrowSchemaExportable: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream."""
