//! Prints `docs/reference/features.md`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", deltaic_protocol::features::features_page());
}
