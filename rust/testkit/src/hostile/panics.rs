//! Panics that are seen: one that starts in our own code is a fault even where it would be caught.

use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once};

/// The first panic of our own code since the last look.
static OURS: Mutex<Option<String>> = Mutex::new(None);

/// The last panic of another's code.
static OTHERS: Mutex<Option<String>> = Mutex::new(None);

static WATCHED: Once = Once::new();

/// Watches panics from now on, and calls `then` after each of our own code. What the Parquet reader says of bytes that
/// were made for it is caught by those who call it, and not printed a hundred thousand times.
pub fn watch(then: fn()) {
    WATCHED.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if is_ours(info) {
                if let Ok(mut first) = OURS.lock() {
                    first.get_or_insert_with(|| info.to_string());
                }
                print(info);
                then();
            } else if let Ok(mut last) = OTHERS.lock() {
                *last = Some(info.to_string());
            }
        }));
    });
}

/// Takes the first panic of our own code, in words.
pub fn take() -> Option<String> {
    OURS.lock().ok().and_then(|mut first| first.take())
}

/// Takes the last panic of another's code, in words: where it is not caught it is a fault too.
pub fn take_others() -> Option<String> {
    OTHERS.lock().ok().and_then(|mut last| last.take())
}

/// Code that is not of a registry and not of the standard library is ours.
fn is_ours(info: &PanicHookInfo<'_>) -> bool {
    info.location().is_some_and(|location| {
        let file = location.file().replace('\\', "/");
        !file.contains("/registry/") && !file.contains("/rustc/") && !file.contains("/library/")
    })
}
