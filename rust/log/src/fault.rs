//! What a panic means: a fault of deltaic, or bytes that a foreign reader could not bear.
//!
//! Whoever owns the process's panic hook calls [`note`] there. Whoever catches a panic then learns where it was, and
//! says so: a user who is told that a sound file is damaged would look for the fault in the wrong place.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use deltaic_protocol::{Error, ErrorKind};

thread_local! {
    /// Where this thread broke off last.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Where this process broke off, oldest first.
static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How often a panic tries to be noted.
const TRIES: usize = 10_000;

/// More are not kept: they would say the same.
const KEPT: usize = 1_000;

/// Notes where a panic is, as its location has the file and the line. To be called by the panic hook.
pub fn note(file: &str, line: u32) {
    let place = format!("{}:{line}", of_any_machine(file));
    // Other threads may break off at the same time. One that holds the lock and breaks off must not wait for itself.
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
    // While a thread ends there may be nothing left to note it in.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = Some(place);
        }
    });
}

/// Where this process broke off, oldest first.
#[must_use]
pub fn noted() -> Vec<String> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The error for a panic that this thread has just caught.
#[must_use]
pub fn caught() -> Error {
    let place = last().unwrap_or_else(|| "an unknown place".to_owned());
    // What the panic said is not repeated: it may be about anything, a key among them.
    Error::new(
        ErrorKind::Internal,
        "Internal error in deltaic; the table itself is not known to be damaged",
    )
    .with("place", place)
    .hint("please report it with this text and with what you did")
}

/// The error for a panic that this thread has just caught over bytes: the given one where a foreign reader broke off.
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

/// The file's name without the folders of the machine that built it.
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
        let damage = || Error::new(ErrorKind::CorruptData, "its bytes make no sense");
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
        // What was caught is caught once.
        assert!(caught().to_string().contains("unknown place"));
        assert_eq!(caught_over_bytes(damage()).kind(), ErrorKind::CorruptData);
    }
}
