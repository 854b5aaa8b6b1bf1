//! Any text as a file name in `_delta_log`: what is taken as a commit is named exactly as we would name it.

#![no_main]

use deltaic_protocol::log_path::{LogFileKind, LogPath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|name: &str| {
    if let Some(path) = LogPath::parse(name) {
        if path.kind == LogFileKind::Commit {
            assert_eq!(LogPath::commit(path.version), format!("_delta_log/{name}"));
        }
        assert!(name.starts_with(&path.version.file_stem()));
    }
});
