//! Any bytes as a checkpoint: a state that keeps the protocol, or an error; never more memory than the file is worth.

#![no_main]

deltaic_fuzz::target!(checkpoint);
