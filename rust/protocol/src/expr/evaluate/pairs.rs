//! Compares each value of each type with each of each other type: results are those of the values
//! themselves, compared in the common type.

use std::cmp::Ordering;

use arrow_array::RecordBatch;

use super::evaluate;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar, parse_predicate};
use crate::schema::{PrimitiveType, StructField, StructType};

const OPS: [(&str, Comparison); 7] = [
    ("=", Comparison::Equal),
    ("<>", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
    ("<=>", Comparison::NullSafeEqual),
];

fn decimals(precision: u8, scale: u8, unscaled: &[i128]) -> Vec<Scalar> {
    let decimal = |unscaled: &i128| Scalar::Decimal {
        unscaled: *unscaled,
        precision,
        scale,
    };
    unscaled.iter().map(decimal).collect()
}

/// Values of each type, including limits of its range and of the precision of others.
fn values() -> Vec<Vec<Scalar>> {
    let two_53 = 1i64 << 53;
    let floats = [
        f32::NAN,
        -f32::NAN,
        f32::NEG_INFINITY,
        -0.0,
        0.0,
        0.1,
        6.1,
        f32::INFINITY,
    ];
    let doubles = [
        f64::NAN,
        f64::NEG_INFINITY,
        -0.0,
        0.0,
        0.1,
        6.1,
        f64::from(6.1f32),
        9_007_199_254_740_992.0,
    ];
    let more = [
        76_335_842_329_427.13,
        76_335_842_329_427.12,
        1.5,
        1e22,
        f64::INFINITY,
        // The doubles nearest to some of the decimals; rounding twice returns their neighbors.
        25_490_530_367_714_772.0,
        16_946_220_058_563.111,
        0.05438211606080191,
        5.33803548562227e-8,
        0.015622892362916894,
    ];
    let moments = [-86_400_000_000, -1, 0, 1, 86_400_000_000];
    vec![
        [i8::MIN, -1, 0, 1, i8::MAX].map(Scalar::Byte).to_vec(),
        [i16::MIN, -1, 0, 128, i16::MAX].map(Scalar::Short).to_vec(),
        [i32::MIN, -1, 0, 16_777_217, i32::MAX]
            .map(Scalar::Integer)
            .to_vec(),
        [i64::MIN, -1, 0, two_53 - 1, two_53, two_53 + 1, i64::MAX]
            .map(Scalar::Long)
            .to_vec(),
        floats.map(Scalar::Float).to_vec(),
        doubles.into_iter().chain(more).map(Scalar::Double).collect(),
        decimals(4, 2, &[-9999, -1, 0, 10, 150, 610, 9999]),
        decimals(
            16,
            2,
            &[
                -1,
                0,
                10,
                7_633_584_232_942_712,
                7_633_584_232_942_713,
                i128::from(two_53) - 1,
            ],
        ),
        decimals(19, 2, &[2_549_053_036_771_477_060]),
        decimals(
            18,
            0,
            &[i128::from(two_53) - 1, i128::from(two_53), i128::from(two_53) + 1],
        ),
        decimals(
            38,
            23,
            &[
                5_338_035_485_622_270,
                5_438_211_606_080_191_642_211,
                1_694_622_005_856_311_215_068_048_734_054_780_183,
                -(10i128.pow(22)),
                61 * 10i128.pow(22),
                10i128.pow(22),
                10i128.pow(37) + 1,
            ],
        ),
        decimals(
            38,
            22,
            &[
                156_228_923_629_168_941_814,
                10i128.pow(21),
                10i128.pow(21) + 1,
                10i128.pow(37),
                12_345,
            ],
        ),
        ["", "a", "b", "ü", "\u{FFFF}", "🚋"]
            .map(|text| Scalar::String(text.to_owned()))
            .to_vec(),
        [&b""[..], b"\0", b"a", b"\xFF"]
            .map(|bytes| Scalar::Binary(bytes.to_vec()))
            .to_vec(),
        [-719_162, -1, 0, 1, 2_932_896].map(Scalar::Date).to_vec(),
        moments.map(Scalar::Timestamp).to_vec(),
        moments.map(Scalar::TimestampNtz).to_vec(),
        [false, true].map(Scalar::Boolean).to_vec(),
    ]
}

/// Compares two values as Spark does, after casting them to the common type.
fn order(a: &Scalar, b: &Scalar, common: PrimitiveType) -> Ordering {
    match common {
        PrimitiveType::Float | PrimitiveType::Double => {
            let (a, b) = (number(a), number(b));
            match (a.is_nan(), b.is_nan()) {
                (false, false) => a.partial_cmp(&b).unwrap(),
                (a, b) => a.cmp(&b),
            }
        }
        PrimitiveType::String | PrimitiveType::Binary => bytes(a).cmp(bytes(b)),
        PrimitiveType::Decimal { scale, .. } => unscaled(a, scale).cmp(&unscaled(b, scale)),
        _ => whole(a, common).cmp(&whole(b, common)),
    }
}

/// The double that is nearest to a number: its text, parsed by the standard library.
fn number(value: &Scalar) -> f64 {
    match value {
        Scalar::Float(value) => f64::from(*value),
        Scalar::Double(value) => *value,
        Scalar::Decimal { unscaled, scale, .. } => format!("{unscaled}e-{scale}").parse().unwrap(),
        other => whole(other, PrimitiveType::Long).to_string().parse().unwrap(),
    }
}

fn bytes(value: &Scalar) -> &[u8] {
    match value {
        Scalar::String(text) => text.as_bytes(),
        Scalar::Binary(bytes) => bytes,
        other => panic!("{other:?} is not text"),
    }
}

fn unscaled(value: &Scalar, to: u8) -> i128 {
    match value {
        Scalar::Decimal { unscaled, scale, .. } => unscaled * 10i128.pow(u32::from(to - scale)),
        other => whole(other, PrimitiveType::Long) * 10i128.pow(u32::from(to)),
    }
}

fn whole(value: &Scalar, common: PrimitiveType) -> i128 {
    match (value, common) {
        (Scalar::Date(days), PrimitiveType::Timestamp | PrimitiveType::TimestampNtz) => {
            i128::from(*days) * 86_400_000_000
        }
        (Scalar::Boolean(value), _) => i128::from(*value),
        (Scalar::Byte(value), _) => i128::from(*value),
        (Scalar::Short(value), _) => i128::from(*value),
        (Scalar::Integer(value) | Scalar::Date(value), _) => i128::from(*value),
        (Scalar::Long(value) | Scalar::Timestamp(value) | Scalar::TimestampNtz(value), _) => {
            i128::from(*value)
        }
        (other, _) => panic!("{other:?} is not a whole number"),
    }
}

fn expected(op: Comparison, a: Option<&Scalar>, b: Option<&Scalar>, common: PrimitiveType) -> Option<bool> {
    if op == Comparison::NullSafeEqual && (a.is_none() || b.is_none()) {
        return Some(a.is_none() && b.is_none());
    }
    let order = order(a?, b?, common);
    Some(match op {
        Comparison::Equal | Comparison::NullSafeEqual => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

fn column(values: &[Scalar]) -> Vec<Option<Scalar>> {
    values.iter().cloned().map(Some).chain([None]).collect()
}

#[test]
fn columns_of_all_types_are_compared_with_each_other() {
    let (all, mut compared) = (values(), 0);
    for (left, right) in all
        .iter()
        .flat_map(|left| all.iter().map(move |right| (left, right)))
    {
        let (left, right) = (column(left), column(right));
        let rows: Vec<_> = left
            .iter()
            .flat_map(|a| right.iter().map(move |b| (a.clone(), b.clone())))
            .collect();
        let (a, b): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
        let types = [&left, &right].map(|values| values[0].as_ref().unwrap().data_type());
        let fields = ["a", "b"].into_iter().zip(types);
        let fields = fields
            .map(|(name, kind)| StructField::new(name, kind.into(), true))
            .collect();
        let batch = [
            ("a", Scalar::to_column(&a, types[0]), true),
            ("b", Scalar::to_column(&b, types[1]), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(batch).unwrap();
        let schema = StructType { fields };
        for (word, op) in OPS {
            let Ok(bound) = parse_predicate(&format!("a {word} b")).unwrap().bind(&schema) else {
                continue;
            };
            let BoundPredicate::Compare { common, .. } = bound else {
                panic!("{bound:?} is not a comparison");
            };
            let answers = evaluate(&bound, &batch).unwrap();
            for (answer, (a, b)) in answers.iter().zip(&rows) {
                assert_eq!(
                    answer,
                    expected(op, a.as_ref(), b.as_ref(), common),
                    "{a:?} {word} {b:?}"
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 7 * all.len(), "types are not compared with others");
}

#[test]
fn columns_of_all_types_are_compared_with_values() {
    for values in values() {
        let common = values[0].data_type();
        let rows = column(&values);
        let batch = [("a", Scalar::to_column(&rows, common), true)];
        let batch = RecordBatch::try_from_iter_with_nullable(batch).unwrap();
        let a = || Operand::Column(vec!["a".to_owned()]);
        for (value, (word, op)) in values.iter().flat_map(|value| OPS.map(move |op| (value, op))) {
            let compare = |left, right| BoundPredicate::Compare {
                op,
                left,
                right,
                common,
            };
            let answers = evaluate(&compare(a(), Operand::Scalar(value.clone())), &batch).unwrap();
            let mirrored = evaluate(&compare(Operand::Scalar(value.clone()), a()), &batch).unwrap();
            for (row, (answer, mirrored)) in rows.iter().zip(answers.iter().zip(&mirrored)) {
                let (row, value) = (row.as_ref(), Some(value));
                assert_eq!(
                    answer,
                    expected(op, row, value, common),
                    "{row:?} {word} {value:?}"
                );
                assert_eq!(
                    mirrored,
                    expected(op, value, row, common),
                    "{value:?} {word} {row:?}"
                );
            }
        }
    }
}
