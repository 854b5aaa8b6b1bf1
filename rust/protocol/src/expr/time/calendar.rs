//! The proleptic Gregorian calendar, in the complete range of dates: `chrono` ends at the year 262,142.

/// Days since the epoch of a date in the proleptic Gregorian calendar; `None` if the date does not exist.
/// Months and days count from 1.
pub(in crate::expr) fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    // Years start in March here, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of days since the epoch.
pub(in crate::expr) fn calendar_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Adds months to a date; if the day does not exist, returns the last day of the month.
pub(in crate::expr) fn plus_months(days: i64, months: i64) -> Option<i64> {
    let (year, month, day) = calendar_of(days);
    let count = year
        .checked_mul(12)?
        .checked_add(month - 1)?
        .checked_add(months)?;
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    days_of(year, month, day.min(days_in(year, month)))
}
