//! Arbitrary bytes as a data file: rows or a typed error, the same in both forms of strings, and never invalid arrays.

#![no_main]

#[path = "../../rust/table/tests/it/data_file/invariants.rs"]
mod invariants;

deltaic_fuzz::target!(data_file, deltaic_fuzz::Target {
    name: "data_file",
    most_bytes: 16 << 10,
    slowness: 20,
    check_invariants: invariants::check_invariants,
});
