//! Arrow data of any producer: rows of a table or a typed error, and rejected data changes no byte.

#![no_main]

#[path = "../../rust/table/tests/it/arrow_input/invariants/mod.rs"]
mod invariants;

deltaic_fuzz::target!(arrow_input, deltaic_fuzz::Target {
    name: "arrow_input",
    most_bytes: 512,
    slowness: 1,
    check_invariants: invariants::check_invariants,
});
