//! Arrow arrays built from bytes, in the C data interface: mostly valid, with arbitrary buffer contents and some
//! invalid structures.
//!
//! The first byte is the number of rows, followed by the types of the columns up to a line end, and data. Only what the
//! interface cannot express is never wrong: buffers are as long as lengths and offsets claim.

mod arena;
mod array;
mod buffers;
mod lie;
mod schema;
mod stream;

pub(super) use array::array;
pub(super) use schema::schema;
pub(super) use stream::Exported;

/// The remaining input; zeros when it is used up.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// A type and its child types.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    letter: u8,
    parts: Vec<Kind>,
}

const MOST_COLUMNS: usize = 3;

/// The columns of the first line. Each letter is a type; nested types precede their children.
pub(super) fn columns(input: &mut Input<'_>) -> Vec<Kind> {
    let mut columns = Vec::new();
    while columns.len() < MOST_COLUMNS {
        match input.byte() {
            0 | b'\n' => break,
            letter => columns.push(kind(letter, input, 0)),
        }
    }
    if columns.len() == MOST_COLUMNS {
        input.byte();
    }
    columns
}

fn kind(letter: u8, input: &mut Input<'_>, depth: usize) -> Kind {
    let text = || Kind {
        letter: b'u',
        parts: Vec::new(),
    };
    let part = |input: &mut Input<'_>| match input.byte() {
        _ if depth > 6 => text(),
        0 | b'\n' => text(),
        letter => kind(letter, input, depth + 1),
    };
    let parts = match letter {
        b's' | b'L' | b'G' | b'V' | b'w' => vec![part(input)],
        b'm' => vec![text(), part(input)],
        b'k' => vec![part(input)],
        b'r' => vec![
            Kind {
                letter: b'i',
                parts: Vec::new(),
            },
            part(input),
        ],
        b'N' => {
            // A type within this number of structs.
            let levels = usize::from(input.byte());
            let inner = text();
            return (0..levels).fold(inner, |inner, _| Kind {
                letter: b's',
                parts: vec![inner],
            });
        }
        _ => Vec::new(),
    };
    Kind { letter, parts }
}
