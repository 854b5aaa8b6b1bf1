//! Laws of data skipping: a file with a matching row is never left out, and one that cannot match is.

mod cases;
mod never_lost;
