//! Writes a file of deletion vectors, for other implementations to read: `vector_file PATH VECTOR...`.
//!
//! A vector is its positions, as parts `start:stop:step` with commas between. For each a line is printed that is a
//! descriptor's numbers as JSON, and beside them the vector as the text that it has in a log.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]
#![expect(clippy::disallowed_methods, reason = "a file for tests is no table's")]

use std::env;
use std::error::Error;

use deltaic_protocol::deletion_vector::{Bitmap, VectorFile, z85};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: vector_file PATH VECTOR...")?;
    let mut file = VectorFile::new();
    for vector in arguments {
        let bitmap = Bitmap::from_positions(positions(&vector)?)?;
        if bitmap.is_empty() {
            return Err("a vector without positions is not written".into());
        }
        let (offset, size_in_bytes) = file.push(&bitmap)?;
        let descriptor = json!({
            "offset": offset,
            "sizeInBytes": size_in_bytes,
            "cardinality": bitmap.len(),
            "inline": z85::encode(&bitmap.encode()?),
        });
        println!("{descriptor}");
    }
    std::fs::write(path, file.into_bytes())?;
    Ok(())
}

/// The positions of all parts.
fn positions(vector: &str) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut found = Vec::new();
    for part in vector.split(',') {
        let numbers = part.split(':').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let [start, stop, step] = numbers.as_slice() else {
            return Err(format!("{part} is not a start:stop:step").into());
        };
        found.extend((*start..*stop).step_by(usize::try_from(*step)?.max(1)));
    }
    Ok(found)
}
