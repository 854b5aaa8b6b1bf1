//! Async properties: each generated case has its own runtime, so that cases are independent.

use deltaic_protocol::Result;
use proptest::test_runner::TestCaseError;

/// Runs a case to completion. An error fails the case, with its hint.
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
