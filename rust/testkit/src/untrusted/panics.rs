//! Records panics: one that originates in deltaic's own code is a bug even if it is caught.

use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once};

/// The first panic of our own code since the last call.
static OURS: Mutex<Option<String>> = Mutex::new(None);

/// The last panic of other crates.
static OTHERS: Mutex<Option<String>> = Mutex::new(None);

static WATCHED: Once = Once::new();

/// Installs a panic hook, and calls `then` after each panic of our own code. Panics of the Parquet reader on mutated
/// bytes are caught by its callers; they are not printed a hundred thousand times.
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

/// Takes the message of the first panic of our own code.
pub fn take() -> Option<String> {
    OURS.lock().ok().and_then(|mut first| first.take())
}

/// Takes the message of the last panic of another crate, which is also a bug if it is not caught.
pub fn take_others() -> Option<String> {
    OTHERS.lock().ok().and_then(|mut last| last.take())
}

/// Code that is neither from a registry nor from the standard library is ours.
fn is_ours(info: &PanicHookInfo<'_>) -> bool {
    info.location().is_some_and(|location| {
        let file = location.file().replace('\\', "/");
        !file.contains("/registry/") && !file.contains("/rustc/") && !file.contains("/library/")
    })
}
