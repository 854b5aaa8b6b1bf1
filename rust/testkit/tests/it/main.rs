//! The tests that need the whole testkit, in one binary, which counts its memory.

mod counted_memory;
mod scripted_store;
mod untrusted;
mod work;
mod writers;

use deltaic_testkit::counted_memory::CountedMemory;

#[global_allocator]
static MEMORY: CountedMemory = CountedMemory;
