from typing import final

@final
class Schema:
    """A table's schema, by logical names (protocol: Schema Serialization Format)."""

    @property
    def names(self) -> list[str]: ...
    def to_json(self) -> str:
        """The table's own schemaString."""

    def __arrow_c_schema__(self) -> object:
        """A PyCapsule of an ArrowSchema."""

    def __str__(self) -> str:
        """The tree, one line a column."""

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
