//! Arrow data of any producer: rows of a table or a typed error, and rejected data changes no byte.

#![no_main]

#[path = "../../rust/table/tests/arrow_input/law/mod.rs"]
mod law;

deltaic_fuzz::target!(arrow_input, deltaic_fuzz::Target {
    name: "arrow_input",
    most_bytes: 512,
    slowness: 1,
    law: law::law,
});
