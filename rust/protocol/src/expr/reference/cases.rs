//! Rows and predicates at the limits of every type.

use proptest::prelude::*;

use super::{Row, TYPES, path};
use crate::expr::bind::literal_position;
use crate::expr::bind::truth::is;
use crate::expr::cast::coercion;
use crate::expr::{BoundPredicate, Comparison, LikePattern, Operand, Scalar, ValueSet};
use crate::schema::PrimitiveType;

pub(super) fn values(kind: PrimitiveType) -> BoxedStrategy<Scalar> {
    let texts = ["", "a", "ab", "b%", "a_b", "a\\b", "it's\n", "é", "😀", "\u{0}1"];
    match kind {
        PrimitiveType::Byte => prop::sample::select(vec![-128, -1, 0, 1, 5, 127])
            .prop_map(Scalar::Byte)
            .boxed(),
        PrimitiveType::Short => prop::sample::select(vec![i16::MIN, -1, 0, 5, 300, i16::MAX])
            .prop_map(Scalar::Short)
            .boxed(),
        PrimitiveType::Integer => prop::sample::select(vec![i32::MIN, -1, 0, 5, 300, 70_000, i32::MAX])
            .prop_map(Scalar::Integer)
            .boxed(),
        PrimitiveType::Long => {
            prop::sample::select(vec![i64::MIN, -1, 0, 5, 300, 1 << 53, (1 << 53) + 1, i64::MAX])
                .prop_map(Scalar::Long)
                .boxed()
        }
        PrimitiveType::Float => prop::sample::select(vec![
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            -0.0,
            0.0,
            0.1,
            1.5,
            5.0,
            f32::MIN,
        ])
        .prop_map(Scalar::Float)
        .boxed(),
        PrimitiveType::Double => prop::sample::select(vec![
            f64::NAN,
            -f64::NAN,
            f64::NEG_INFINITY,
            -0.0,
            0.0,
            0.1,
            f64::from(0.1f32),
            1.5,
            5.0,
            5e-324,
            9_007_199_254_740_993.0,
            1e300,
        ])
        .prop_map(Scalar::Double)
        .boxed(),
        PrimitiveType::Decimal { precision, scale } => {
            prop::sample::select(vec![-99_999, -1, 0, 1, 150, 500, 99_999])
                .prop_map(move |unscaled| Scalar::Decimal {
                    unscaled,
                    precision,
                    scale,
                })
                .boxed()
        }
        PrimitiveType::String => prop::sample::select(texts.to_vec())
            .prop_map(|text| Scalar::String(text.to_owned()))
            .boxed(),
        PrimitiveType::Binary => prop::sample::select(vec![vec![], vec![0], b"a".to_vec(), vec![255, 0]])
            .prop_map(Scalar::Binary)
            .boxed(),
        PrimitiveType::Date => {
            prop::sample::select(vec![i32::MIN, -719_529, -1, 0, 1, 20_000, 4_000_000, i32::MAX])
                .prop_map(Scalar::Date)
                .boxed()
        }
        PrimitiveType::Timestamp => times().prop_map(Scalar::Timestamp).boxed(),
        PrimitiveType::TimestampNtz => times().prop_map(Scalar::TimestampNtz).boxed(),
        _ => any::<bool>().prop_map(Scalar::Boolean).boxed(),
    }
}

fn times() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![
        i64::MIN,
        -1,
        0,
        1,
        86_400_000_000,
        1_614_834_367_123_400,
        i64::MAX,
    ])
}

pub(super) fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row: Vec<_> = TYPES
        .map(|(_, kind)| prop::option::weighted(0.8, values(kind)))
        .to_vec();
    prop::collection::vec(row, 1..20)
}

pub(super) fn comparisons() -> impl Strategy<Value = Comparison> {
    prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
        Comparison::NullSafeEqual,
    ])
}

/// Tests of one column, in the form of bound predicates.
fn leaf() -> impl Strategy<Value = BoundPredicate> {
    let compared = (0..TYPES.len(), comparisons()).prop_flat_map(|(at, op)| {
        let kind = TYPES[at].1;
        values(kind).prop_map(move |value| match value {
            // A boolean column is not compared with TRUE or FALSE.
            Scalar::Boolean(_) => BoundPredicate::Column(path(at)),
            value => literal_position::compare(
                op,
                path(at),
                kind,
                literal_position::LiteralPosition::Exact(value),
            ),
        })
    });
    let listed = (0..TYPES.len() - 2).prop_flat_map(|at| {
        let kind = TYPES[at].1;
        (prop::collection::vec(values(kind), 1..9), any::<bool>()).prop_map(move |(list, has_null)| {
            let values = ValueSet::new(list);
            if values.values().len() > 1 || has_null {
                BoundPredicate::In {
                    path: path(at),
                    values,
                    has_null,
                }
            } else {
                BoundPredicate::IsNull(path(at))
            }
        })
    });
    let columns =
        (0..TYPES.len(), 0..TYPES.len(), comparisons()).prop_filter_map("comparable", |(a, b, op)| {
            let (left, right) = (TYPES[a].1, TYPES[b].1);
            let common = coercion::wider(left, right)?;
            let dates = left != right && (left == PrimitiveType::Date || right == PrimitiveType::Date);
            let texts = left != right && (left == PrimitiveType::String || right == PrimitiveType::String);
            (!dates && !texts).then(|| BoundPredicate::Compare {
                op,
                left: Operand::Column(path(a)),
                right: Operand::Column(path(b)),
                common,
            })
        });
    let cast_rows = (
        prop::sample::select(vec![3usize, 6]),
        comparisons(),
        values(PrimitiveType::Double),
    )
        .prop_map(|(at, op, value)| BoundPredicate::Compare {
            op,
            left: Operand::Column(path(at)),
            right: Operand::Scalar(value),
            common: PrimitiveType::Double,
        });
    let part = || prop::sample::select(vec!["", "a", "b", "é", "'", "\\", "\n", "%"]).prop_map(str::to_owned);
    let pattern = prop::sample::select(vec!["_%b", "a_b", "%a%b%", "_", "\\%_", "a\\\\_", "%_%"]);
    prop_oneof![
        4 => compared,
        2 => listed,
        2 => columns,
        1 => cast_rows,
        1 => (0..TYPES.len()).prop_map(|at| BoundPredicate::IsNull(path(at))),
        1 => (4usize..6).prop_map(|at| BoundPredicate::IsNan(path(at))),
        1 => part().prop_map(|part| BoundPredicate::StartsWith(path(7), part)),
        1 => part().prop_map(|part| BoundPredicate::EndsWith(path(7), part)),
        1 => part().prop_map(|part| BoundPredicate::Contains(path(7), part)),
        1 => pattern.prop_map(|text| BoundPredicate::Like(path(7), LikePattern::parse(text, '\\').unwrap())),
        1 => prop::sample::select(vec![Some(true), Some(false), None]).prop_map(BoundPredicate::Constant),
    ]
}

pub(super) fn predicates() -> impl Strategy<Value = BoundPredicate> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let truth = prop::sample::select(vec![Some(true), Some(false), None]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(BoundPredicate::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(BoundPredicate::Or),
            inner
                .clone()
                .prop_map(|inner| BoundPredicate::Not(Box::new(inner))),
            (inner, truth).prop_map(|(inner, truth)| is(inner, truth)),
        ]
    })
}
