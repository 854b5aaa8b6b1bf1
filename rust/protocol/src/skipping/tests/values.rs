//! Values of each type, many of them adjacent, and a small reproducible random generator.

use std::cmp::Ordering;

use crate::expr::{Scalar, format_timestamp};
use crate::schema::PrimitiveType;

/// A random generator: the same seed returns the same values.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        // SplitMix64: each seed starts its own sequence.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    /// True with this probability in percent.
    pub(super) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

pub(super) const fn decimal(precision: u8, scale: u8) -> PrimitiveType {
    PrimitiveType::Decimal { precision, scale }
}

/// The types of columns: now, and when the first files were written.
pub(super) const TYPES: [(PrimitiveType, PrimitiveType); 28] = [
    (PrimitiveType::Byte, PrimitiveType::Byte),
    (PrimitiveType::Short, PrimitiveType::Byte),
    (PrimitiveType::Short, PrimitiveType::Short),
    (PrimitiveType::Integer, PrimitiveType::Integer),
    (PrimitiveType::Long, PrimitiveType::Long),
    (PrimitiveType::Long, PrimitiveType::Integer),
    (PrimitiveType::Float, PrimitiveType::Float),
    (PrimitiveType::Double, PrimitiveType::Double),
    (PrimitiveType::Double, PrimitiveType::Float),
    (PrimitiveType::Double, PrimitiveType::Integer),
    (decimal(10, 2), decimal(10, 2)),
    (decimal(18, 2), decimal(18, 2)),
    (decimal(18, 17), decimal(18, 17)),
    (decimal(38, 2), decimal(38, 2)),
    (decimal(38, 30), decimal(38, 30)),
    (decimal(12, 4), decimal(10, 2)),
    (decimal(14, 2), PrimitiveType::Integer),
    (decimal(22, 2), PrimitiveType::Long),
    (PrimitiveType::String, PrimitiveType::String),
    (PrimitiveType::String, PrimitiveType::String),
    (PrimitiveType::Date, PrimitiveType::Date),
    (PrimitiveType::Timestamp, PrimitiveType::Timestamp),
    (PrimitiveType::Timestamp, PrimitiveType::Timestamp),
    (PrimitiveType::TimestampNtz, PrimitiveType::TimestampNtz),
    (PrimitiveType::TimestampNtz, PrimitiveType::Date),
    (PrimitiveType::Boolean, PrimitiveType::Boolean),
    (PrimitiveType::Binary, PrimitiveType::Binary),
    (PrimitiveType::Short, PrimitiveType::Short),
];

/// A value of a type: mostly one with generated neighbors.
pub(super) fn value(chance: &mut Chance, data_type: PrimitiveType) -> Scalar {
    let near = i64::try_from(chance.below(5)).unwrap() - 2;
    match data_type {
        PrimitiveType::Byte => Scalar::Byte(
            chance
                .pick(&[-128i8, -100, 0, 7, 100, 127])
                .saturating_add(near as i8),
        ),
        PrimitiveType::Short => Scalar::Short(
            chance
                .pick(&[i16::MIN, -129, 0, 500, i16::MAX])
                .saturating_add(near as i16),
        ),
        PrimitiveType::Integer => {
            let bases = [i32::MIN, -70_000, 0, 16_777_217, i32::MAX];
            Scalar::Integer(chance.pick(&bases).saturating_add(near as i32))
        }
        PrimitiveType::Long => {
            let bases = [i64::MIN, -5, 0, 1 << 53, i64::MAX];
            Scalar::Long(chance.pick(&bases).saturating_add(near))
        }
        PrimitiveType::Float => Scalar::Float(float(chance)),
        PrimitiveType::Double if chance.percent(50) => Scalar::Double(f64::from(float(chance))),
        PrimitiveType::Double => {
            let bases = [
                6.1,
                0.1,
                -0.1,
                1e300,
                -1e300,
                5e-324,
                9_007_199_254_740_993.0,
                f64::MAX,
            ];
            let base = *chance.pick(&bases);
            Scalar::Double(match near {
                1 => base.next_up(),
                -1 => base.next_down(),
                _ => base,
            })
        }
        PrimitiveType::Decimal { precision, scale } => {
            let bases = [
                0,
                1,
                950,
                123_456,
                10i128.pow(9),
                10i128.pow(14),
                10i128.pow(15),
                10i128.pow(16),
            ]
            .into_iter()
            .chain([1 << 52, 1 << 53, 123_456_789_012_345_678, 500_000_000_000_000_000])
            .chain([10i128.pow(30), 10i128.pow(37) * 5, 10i128.pow(38) - 3])
            .filter(|base| *base + 2 < 10i128.pow(u32::from(precision)))
            .collect::<Vec<_>>();
            let unscaled = chance.pick(&bases) + i128::from(near);
            Scalar::Decimal {
                unscaled: if chance.percent(25) { -unscaled } else { unscaled },
                precision,
                scale,
            }
        }
        PrimitiveType::String => Scalar::String(text(chance)),
        PrimitiveType::Binary => Scalar::Binary(text(chance).into_bytes().into_iter().take(4).collect()),
        PrimitiveType::Boolean => Scalar::Boolean(chance.percent(50)),
        PrimitiveType::Date => {
            let bases = [-719_160, -141_428, -1, 0, 365, 20_000, 2_932_890];
            Scalar::Date(chance.pick(&bases) + near as i32)
        }
        PrimitiveType::Timestamp => Scalar::Timestamp(instant(chance, near)),
        PrimitiveType::TimestampNtz => Scalar::TimestampNtz(instant(chance, near)),
        PrimitiveType::Void | PrimitiveType::Variant => panic!("it has no values"),
    }
}

fn float(chance: &mut Chance) -> f32 {
    let special = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        0.0,
        f32::MAX,
        f32::MIN_POSITIVE,
    ];
    if chance.percent(30) {
        return *chance.pick(&special);
    }
    let base: f32 = *chance.pick(&[6.1, 0.1, -6.1, 16_777_216.0, 1e20]);
    match chance.below(3) {
        0 => base.next_up(),
        1 => base.next_down(),
        _ => base,
    }
}

/// Adjacent days, milliseconds and microseconds, some at times with unusual zone offsets.
fn instant(chance: &mut Chance, near: i64) -> i64 {
    let bases = [
        -62_135_596_700_000_000,
        -5_000_000_000_000_000,
        -2_208_988_800_000_000,
        -1_000,
        0,
        63_593_070_000_000 - 1,
        94_694_400_000_000 - 1,
        1_600_000_000_123_999,
        1_600_000_000_124_000,
        1_600_041_600_000_000,
        253_402_200_000_000_000,
    ];
    let step = chance.pick(&[0, 1, 499, 1_000, 29_000_000, 86_400_000_000]);
    chance.pick(&bases) + near * step
}

/// Short and long strings; the long ones differ near the positions where writers truncate.
fn text(chance: &mut Chance) -> String {
    if chance.percent(40) {
        return (*chance.pick(&["", "a", "ab", "b", "ü", "\u{7F}", "\u{10FFFF}", "z"])).to_owned();
    }
    let parts = ["x", "é", "🚋", "\u{10FFFF}", "\u{7F}", "\u{FFFF}", "y", "\u{80}"];
    let start = chance
        .pick(&parts[..4])
        .repeat(*chance.pick(&[14, 15, 16, 21, 30, 31, 32, 63]));
    let ends = chance.below(4);
    (0..ends).fold(start, |text, _| text + *chance.pick::<&str>(&parts))
}

/// Compares values in Spark's order; NaN is greater than everything, and both zeros are equal.
pub(super) fn order(a: &Scalar, b: &Scalar) -> Ordering {
    let float = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap(),
        (a, b) => a.cmp(&b),
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(f64::from(*a), f64::from(*b)),
        (Scalar::Double(a), Scalar::Double(b)) => float(*a, *b),
        (Scalar::String(a), Scalar::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Scalar::Boolean(a), Scalar::Boolean(b)) => a.cmp(b),
        (Scalar::Binary(a), Scalar::Binary(b)) => a.cmp(b),
        (Scalar::Byte(a), Scalar::Byte(b)) => a.cmp(b),
        (Scalar::Short(a), Scalar::Short(b)) => a.cmp(b),
        (Scalar::Integer(a), Scalar::Integer(b)) | (Scalar::Date(a), Scalar::Date(b)) => a.cmp(b),
        (Scalar::Long(a), Scalar::Long(b))
        | (Scalar::Timestamp(a), Scalar::Timestamp(b))
        | (Scalar::TimestampNtz(a), Scalar::TimestampNtz(b)) => a.cmp(b),
        other => panic!("of two types: {other:?}"),
    }
}

/// The value as a SQL literal.
pub(super) fn literal(value: &Scalar) -> String {
    match value {
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Byte(_) | Scalar::Short(_) | Scalar::Integer(_) | Scalar::Long(_) => {
            value.to_partition_text().unwrap()
        }
        Scalar::Float(_) => format!("CAST('{}' AS FLOAT)", value.to_partition_text().unwrap()),
        Scalar::Double(_) => format!("CAST('{}' AS DOUBLE)", value.to_partition_text().unwrap()),
        Scalar::Decimal { precision, scale, .. } => {
            format!(
                "CAST('{}' AS DECIMAL({precision}, {scale}))",
                value.to_partition_text().unwrap()
            )
        }
        Scalar::String(text) => format!("'{text}'"),
        Scalar::Binary(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("X'{digits}'")
        }
        Scalar::Date(_) => format!("DATE '{}'", value.to_partition_text().unwrap()),
        Scalar::Timestamp(micros) => format!("TIMESTAMP '{}Z'", format_timestamp(*micros, ' ').unwrap()),
        Scalar::TimestampNtz(micros) => {
            format!("TIMESTAMP_NTZ '{}'", format_timestamp(*micros, ' ').unwrap())
        }
    }
}
