//! The invariants of `deltaic_testkit::untrusted` as fuzz targets: each searches for inputs that reach new code.

pub use deltaic_testkit::untrusted::Target;
#[doc(hidden)]
pub use deltaic_testkit::untrusted;
use deltaic_testkit::counted_memory::CountedMemory;
use deltaic_testkit::untrusted::panics;

#[doc(hidden)]
pub use libfuzzer_sys;
use libfuzzer_sys::Corpus;

/// Counts allocated memory, so that the invariants can limit it.
#[global_allocator]
static MEMORY: CountedMemory = CountedMemory;

/// Installs the panic hook for a target.
///
/// # Panics
///
/// If memory is not counted.
#[must_use]
pub fn watched(target: Target) -> Target {
    // libFuzzer's own hook would abort even for the Parquet reader's panics, which are caught on purpose.
    drop(std::panic::take_hook());
    panics::watch(|| std::process::abort());
    assert!(untrusted::is_counted(), "the memory is not counted");
    target
}

/// Checks the invariant; inputs above the target's size limit are rejected.
pub fn run(target: &Target, bytes: &[u8]) -> Corpus {
    if bytes.len() > target.most_bytes {
        return Corpus::Reject;
    }
    (target.check_invariants)(bytes);
    Corpus::Keep
}

/// Makes a fuzz target of an invariant.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::target!($name, $crate::untrusted::named(stringify!($name)).expect("a target"));
    };
    ($name:ident, $target:expr) => {
        static TARGET: std::sync::LazyLock<$crate::Target> =
            std::sync::LazyLock::new(|| $crate::watched($target));

        $crate::libfuzzer_sys::fuzz_target!(
            init: {
                std::sync::LazyLock::force(&TARGET);
            },
            |bytes: &[u8]| -> libfuzzer_sys::Corpus { $crate::run(&TARGET, bytes) }
        );
    };
}
