//! The functions of the expression language, a closed list, and how they are called.

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Ceil,
    Coalesce,
    Concat,
    CurrentDate,
    CurrentTimestamp,
    DateAdd,
    DateDiff,
    DateFormat,
    DateSub,
    DateTrunc,
    Day,
    ElementAt,
    /// `EXTRACT(SECOND FROM …)`, which has a fraction.
    ExactSecond,
    Floor,
    Greatest,
    Hash,
    Hour,
    If,
    Least,
    Length,
    Lower,
    LeftPad,
    LeftTrim,
    Md5,
    Minute,
    Month,
    NamedStruct,
    NullIf,
    Power,
    Quarter,
    Replace,
    Round,
    RightPad,
    RightTrim,
    Second,
    Sha2,
    SquareRoot,
    Substring,
    ToDate,
    Trim,
    TruncateDate,
    Upper,
    XxHash64,
    Year,
}

/// Any number of arguments.
const MANY: usize = usize::MAX;

/// The names of functions with the least and the greatest number of arguments. The first name of a function is the one
/// that is displayed.
#[rustfmt::skip] // a table: a row each
const NAMES: &[(&str, Function, usize, usize)] = {
    use Function as F;
    &[
        ("abs", F::Abs, 1, 1),
        ("ceil", F::Ceil, 1, 1), ("ceiling", F::Ceil, 1, 1),
        ("coalesce", F::Coalesce, 1, MANY), ("nvl", F::Coalesce, 2, 2), ("ifnull", F::Coalesce, 2, 2),
        ("concat", F::Concat, 0, MANY),
        ("current_date", F::CurrentDate, 0, 0), ("curdate", F::CurrentDate, 0, 0),
        ("current_timestamp", F::CurrentTimestamp, 0, 0), ("now", F::CurrentTimestamp, 0, 0),
        ("date_add", F::DateAdd, 2, 2), ("dateadd", F::DateAdd, 2, 2),
        ("datediff", F::DateDiff, 2, 2), ("date_diff", F::DateDiff, 2, 2),
        ("date_format", F::DateFormat, 2, 2),
        ("date_sub", F::DateSub, 2, 2),
        ("date_trunc", F::DateTrunc, 2, 2),
        ("day", F::Day, 1, 1), ("dayofmonth", F::Day, 1, 1),
        ("element_at", F::ElementAt, 2, 2),
        ("floor", F::Floor, 1, 1),
        ("greatest", F::Greatest, 2, MANY),
        ("hash", F::Hash, 1, MANY),
        ("hour", F::Hour, 1, 1),
        ("if", F::If, 3, 3),
        ("least", F::Least, 2, MANY),
        ("length", F::Length, 1, 1), ("char_length", F::Length, 1, 1), ("character_length", F::Length, 1, 1), ("len", F::Length, 1, 1),
        ("lower", F::Lower, 1, 1), ("lcase", F::Lower, 1, 1),
        ("lpad", F::LeftPad, 2, 3),
        ("ltrim", F::LeftTrim, 1, 2),
        ("md5", F::Md5, 1, 1),
        ("minute", F::Minute, 1, 1),
        ("month", F::Month, 1, 1),
        ("named_struct", F::NamedStruct, 2, MANY),
        ("nullif", F::NullIf, 2, 2),
        ("power", F::Power, 2, 2), ("pow", F::Power, 2, 2),
        ("quarter", F::Quarter, 1, 1),
        ("replace", F::Replace, 2, 3),
        ("round", F::Round, 1, 2),
        ("rpad", F::RightPad, 2, 3),
        ("rtrim", F::RightTrim, 1, 2),
        ("second", F::Second, 1, 1),
        ("sha2", F::Sha2, 2, 2),
        ("sqrt", F::SquareRoot, 1, 1),
        ("substring", F::Substring, 2, 3), ("substr", F::Substring, 2, 3),
        ("to_date", F::ToDate, 1, 1),
        ("trim", F::Trim, 1, 2),
        ("trunc", F::TruncateDate, 2, 2),
        ("upper", F::Upper, 1, 1), ("ucase", F::Upper, 1, 1),
        ("xxhash64", F::XxHash64, 1, MANY),
        ("year", F::Year, 1, 1),
    ]
};

impl Function {
    /// The function that is called by a name with a number of arguments.
    pub(super) fn of(name: &str, arguments: usize) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _, least, most)| {
                known.eq_ignore_ascii_case(name) && (*least..=*most).contains(&arguments)
            })
            .map(|(_, function, ..)| *function)
    }

    /// Whether a function has this name, with any number of arguments.
    pub(super) fn is_known(name: &str) -> bool {
        NAMES.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
    }

    pub(super) fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, function, ..)| *function == self)
            .map_or("", |(name, ..)| name)
    }
}
