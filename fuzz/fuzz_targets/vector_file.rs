//! Any bytes as a descriptor and its deletion vector file: the result is exactly what the file contains.

#![no_main]

deltaic_fuzz::target!(vector_file);
