//! Any text as the descriptor of a deletion vector: it is judged, and the vector within is read as it stands.

#![no_main]

deltaic_fuzz::target!(vector_descriptor);
