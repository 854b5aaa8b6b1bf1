//! Any bytes as a descriptor and its file of deletion vectors: what is taken out is what stands there.

#![no_main]

deltaic_fuzz::target!(vector_file);
