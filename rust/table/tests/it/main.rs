//! The integration tests, in one binary: each binary links Arrow and Parquet, which takes seconds. Tests with an
//! allocator of their own are separate.

mod arrow_input;
mod data_file;
mod restore_faults;
mod row_change_faults;
mod row_level;
mod scan_oracle;
mod scan_requests;
mod vacuum_faults;
mod vector_requests;
