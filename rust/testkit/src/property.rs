//! A property of what waits: each generated case in a runtime of its own, so that none leaves anything to the next.

use deltaic_protocol::Result;
use proptest::test_runner::TestCaseError;

/// Runs a case to its end. An error fails it, with what to do about it.
///
/// ```
/// # fn main() -> Result<(), proptest::test_runner::TestCaseError> {
/// deltaic_testkit::property::holds(async { Ok(()) })
/// # }
/// ```
pub fn holds(case: impl Future<Output = Result<()>>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| TestCaseError::fail(error.to_string()))?;
    runtime
        .block_on(case)
        .map_err(|error| TestCaseError::fail(format!("{error}; {}", error.hint_text().unwrap_or_default())))
}
