from typing import final

@final
class ArrowTable:
    """Materialised Arrow data."""

    @property
    def num_rows(self) -> int: ...
    @property
    def schema(self) -> ArrowSchema: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a PyCapsule of an ArrowArrayStream."""

@final
class ArrowSchema:
    """An Arrow schema that does not belong to a Delta table."""

    @property
    def names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object:
        """Returns a PyCapsule of an ArrowSchema."""
