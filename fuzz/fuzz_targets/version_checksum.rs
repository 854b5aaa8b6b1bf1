//! Any bytes as a version checksum: what it says or an error, never a panic.

#![no_main]

use deltaic_protocol::checksum::VersionChecksum;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(checksum) = VersionChecksum::parse(bytes) {
        // What was taken does not contradict itself.
        assert!(checksum.num_files >= 0 && checksum.table_size_bytes >= 0);
    }
});
