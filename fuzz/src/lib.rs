//! The laws of `deltaic_testkit::hostile` as fuzz targets: each looks for bytes that take new ways through the code.

pub use deltaic_testkit::hostile::Target;
#[doc(hidden)]
pub use deltaic_testkit::hostile;
use deltaic_testkit::hostile::panics;
use peak_alloc::PeakAlloc;

#[doc(hidden)]
pub use libfuzzer_sys;
use libfuzzer_sys::Corpus;

/// Counts the memory, so that the laws can bound it.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A target, watched.
///
/// # Panics
///
/// Where the memory is not counted.
#[must_use]
pub fn watched(target: Target) -> Target {
    // libFuzzer's own hook would end the run also where the Parquet reader's panic is caught, as it is meant to be.
    drop(std::panic::take_hook());
    panics::watch(|| std::process::abort());
    assert!(hostile::is_counted(), "the memory is not counted");
    target
}

/// Tries the law; longer bytes than the target's are not kept.
pub fn run(target: &Target, bytes: &[u8]) -> Corpus {
    if bytes.len() > target.most_bytes {
        return Corpus::Reject;
    }
    (target.law)(bytes);
    Corpus::Keep
}

/// Makes a fuzz target of a law.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::target!($name, $crate::hostile::named(stringify!($name)).expect("a target"));
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
