//! Any bytes as a checkpoint: a state that conforms to the protocol, or an error; memory is limited by the file's size.

#![no_main]

deltaic_fuzz::target!(checkpoint);
