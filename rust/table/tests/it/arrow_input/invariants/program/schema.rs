//! Schemas of the columns, invalid as a byte requests.

use std::ptr::{null, null_mut};

use arrow_array::ffi::FFI_ArrowSchema;

use super::super::c_data::structures::RawSchema;
use super::Kind;
use super::arena::{Arena, keep_schema, one_schema};

/// The schema of columns, with the defect that a byte requests.
pub(in super::super) fn schema(columns: &[Kind], lie: u8) -> FFI_ArrowSchema {
    let mut arena = Arena::default();
    let columns: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(index, kind)| (format!("c{index}"), kind))
        .collect();
    let parts: Vec<_> = columns
        .iter()
        .map(|(name, kind)| (name.as_str(), *kind))
        .collect();
    let parts = parts
        .into_iter()
        .map(|(name, kind)| describe(&mut arena, kind, name, lie))
        .collect();
    let mut root = one_schema(&mut arena, b"+s", b"", parts);
    root.private_data = Box::into_raw(Box::new(arena)).cast();
    // SAFETY: both types are the interface's structure, and `root` is not used again.
    unsafe { std::mem::transmute::<RawSchema, FFI_ArrowSchema>(root) }
}

fn describe(arena: &mut Arena, kind: &Kind, name: &str, lie: u8) -> RawSchema {
    let named: &[&str] = match kind.letter {
        b's' => &["f"],
        b'm' => &["key", "value"],
        b'r' => &["run_ends", "values"],
        b'k' => &[],
        _ => &["item"],
    };
    let parts: Vec<RawSchema> = named
        .iter()
        .zip(&kind.parts)
        .map(|(name, part)| describe(arena, part, name, lie))
        .collect();
    let parts = match kind.letter {
        b'm' => vec![one_schema(arena, b"+s", b"entries", parts)],
        _ => parts,
    };
    let format: &[u8] = match kind.letter {
        b'l' => b"l",
        b'i' => b"i",
        b'b' => b"b",
        b'U' => b"U",
        b'v' => b"vu",
        b'z' => b"z",
        b'Z' => b"Z",
        b'y' => b"vz",
        b'3' => b"d:5,2,32",
        b'6' => b"d:5,2,64",
        b'd' => b"d:5,2",
        b'D' => b"d:5,2,256",
        b'F' => b"w:3",
        b'f' => b"g",
        b't' => b"tsu:UTC",
        b'a' => b"tdD",
        b'n' => b"n",
        b'k' => b"c",
        b'r' => b"+r",
        b's' => b"+s",
        b'L' => b"+l",
        b'G' => b"+L",
        b'V' => b"+vl",
        b'w' => b"+w:2",
        b'm' => b"+m",
        _ => b"u",
    };
    let mut schema = one_schema(arena, format, name.as_bytes(), parts);
    if matches!(name, "key" | "run_ends") || lie == 1 {
        // Run ends and keys have no NULLs.
        schema.flags = 0;
    }
    if kind.letter == b'k' {
        let values = kind
            .parts
            .first()
            .map(|part| describe(arena, part, "values", lie));
        schema.dictionary = keep_schema(arena, values.expect("a dictionary has values"));
    }
    match lie {
        2 => schema.format = arena.text(b"\xff"),
        3 => schema.format = null(),
        4 => schema.name = arena.text(b"caf\xe9"),
        5 => schema.n_children = -1,
        6 => schema.n_children += 1,
        7 => schema.children = null_mut(),
        8 => schema.format = arena.text(b"+l"),
        9 => schema.format = arena.text(b"d:200,2"),
        10 => schema.format = arena.text(b"w:-1"),
        11 => schema.format = arena.text(b"+w:-1"),
        12 => schema.format = arena.text(b"+us:0"),
        13 => schema.format = arena.text(b"+m"),
        _ => {}
    }
    schema
}
