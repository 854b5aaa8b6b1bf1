"""The matrix of shapes: one column of one type, as one writer encodes it, in row groups of one size."""
