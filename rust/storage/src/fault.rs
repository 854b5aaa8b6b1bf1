//! Panics: an internal error of deltaic, or bytes that a third-party decoder could not handle.
//!
//! The process's panic hook calls [`note`], so that code that catches a panic can report its location. An
//! internal error must not be reported as damage of the user's file.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use deltaic_protocol::{Error, ErrorKind};

thread_local! {
    /// Location of the last panic on this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Locations of the panics in this process, oldest first.
static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How often [`note`] tries to lock the list.
const TRIES: usize = 10_000;

/// Maximum number of recorded panics.
const KEPT: usize = 1_000;

/// Records the location of a panic by file and line. Must be called by the panic hook.
pub fn note(file: &str, line: u32) {
    let place = format!("{}:{line}", of_any_machine(file));
    // Other threads may panic at the same time. A thread that panics while it holds the lock must not wait
    // for itself.
    for _ in 0..TRIES {
        match NOTED.try_lock() {
            Ok(mut noted) => {
                if noted.len() < KEPT {
                    noted.push(place.clone());
                }
                break;
            }
            Err(_) => std::thread::yield_now(),
        }
    }
    // The thread-local may be destroyed while the thread ends.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = Some(place);
        }
    });
}

/// Returns the locations of the panics in this process, oldest first.
#[must_use]
pub fn noted() -> Vec<String> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the error for a panic that this thread has just caught.
#[must_use]
pub fn caught() -> Error {
    let place = last().unwrap_or_else(|| "an unknown location".to_owned());
    // The message of the panic is not included: it may contain anything, including keys.
    Error::new(
        ErrorKind::Internal,
        "Internal error in deltaic; there is no sign that the table is damaged",
    )
    .with("place", place)
    .hint("please report this text and the steps that led to it")
}

/// Returns the error for a panic that this thread has just caught while it decoded bytes: `damage` if
/// third-party code panicked.
#[must_use]
pub fn caught_over_bytes(damage: Error) -> Error {
    match last() {
        Some(place) if place.starts_with("rust/") => caught_at(place),
        _ => damage,
    }
}

fn caught_at(place: String) -> Error {
    LAST.with(|last| last.replace(Some(place)));
    caught()
}

fn last() -> Option<String> {
    LAST.with(RefCell::take)
}

/// Returns the file's path without the folders of the machine that built it.
fn of_any_machine(file: &str) -> &str {
    let below = |folder: &str| {
        let (_, below) = file.split_once(folder)?;
        below.split_once('/').map(|(_, below)| below)
    };
    below("/registry/src/")
        .or_else(|| below("/rustc/"))
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_ours_is_a_fault_and_a_foreign_one_is_damage() {
        let damage = || Error::new(ErrorKind::CorruptData, "its bytes are invalid");
        for (file, shown, kind) in [
            ("rust/log/src/x.rs", "rust/log/src/x.rs:7", ErrorKind::Internal),
            (
                "/home/me/.cargo/registry/src/index-1/parquet-1.0/src/x.rs",
                "parquet-1.0/src/x.rs:7",
                ErrorKind::CorruptData,
            ),
            (
                "/rustc/0123abc/library/core/src/x.rs",
                "library/core/src/x.rs:7",
                ErrorKind::CorruptData,
            ),
        ] {
            note(file, 7);
            assert!(noted().iter().any(|place| place == shown), "{file}");
            assert_eq!(caught_over_bytes(damage()).kind(), kind, "{file}");
            note(file, 7);
            assert!(caught().to_string().contains(shown), "{file}");
        }
        // The location is returned only once.
        assert!(caught().to_string().contains("unknown location"));
        assert_eq!(caught_over_bytes(damage()).kind(), ErrorKind::CorruptData);
    }
}
