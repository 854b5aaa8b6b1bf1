//! Records panics: one that originates in deltaic's own code is a bug even if it is caught.
//!
//! Only those of watched threads, because other tests have threads too.

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, Once};

/// The panics since they were last taken.
#[derive(Debug, Default)]
struct Panics {
    /// The first one of our own code.
    ours: Mutex<Option<String>>,
    /// The last one of other crates.
    others: Mutex<Option<String>>,
}

thread_local! {
    /// Where the panics of this thread are recorded, if it is watched.
    static RECORD: RefCell<Option<Arc<Panics>>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Watches this thread: installs a panic hook, which calls `then` after each panic of our own code. Panics of the Parquet
/// reader on mutated bytes are caught by its callers; they are not printed a hundred thousand times.
pub fn watch(then: fn()) {
    RECORD.set(Some(Arc::default()));
    HOOK.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match record() {
            None => print(info),
            Some(panics) if is_ours(info) => {
                if let Ok(mut first) = panics.ours.lock() {
                    first.get_or_insert_with(|| info.to_string());
                }
                print(info);
                then();
            }
            Some(panics) => {
                if let Ok(mut last) = panics.others.lock() {
                    *last = Some(info.to_string());
                }
            }
        }));
    });
}

/// What a runtime's threads call as they start, to be watched together with this thread.
pub fn watch_too() -> impl Fn() + Send + Sync + 'static {
    let panics = record();
    move || RECORD.set(panics.clone())
}

/// Takes the message of the first panic of our own code.
pub fn take() -> Option<String> {
    record()?.ours.lock().ok()?.take()
}

/// Takes the message of the last panic of another crate, which is also a bug if it is not caught.
pub fn take_others() -> Option<String> {
    record()?.others.lock().ok()?.take()
}

fn record() -> Option<Arc<Panics>> {
    RECORD.try_with(|panics| panics.borrow().clone()).ok().flatten()
}

/// Code that is neither from a registry nor from the standard library is ours.
fn is_ours(info: &PanicHookInfo<'_>) -> bool {
    info.location().is_some_and(|location| {
        let file = location.file().replace('\\', "/");
        !file.contains("/registry/") && !file.contains("/rustc/") && !file.contains("/library/")
    })
}
