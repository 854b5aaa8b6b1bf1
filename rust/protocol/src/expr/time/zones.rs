//! Time zones, by offset or by name with their historical rules.

use std::str::FromStr;

use chrono::{NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone};

use crate::expr::time::calendar::calendar_of;
use crate::expr::time::reader::{NoTime, Reader, trimmed};

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

/// The abbreviations that Java has, except those of fixed offsets.
#[rustfmt::skip] // a table
const SHORT_NAMES: [(&str, &str); 25] = [
    ("ACT", "Australia/Darwin"), ("AET", "Australia/Sydney"), ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"), ("AST", "America/Anchorage"), ("BET", "America/Sao_Paulo"), ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"), ("CNT", "America/St_Johns"), ("CST", "America/Chicago"), ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"), ("ECT", "Europe/Paris"), ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"), ("JST", "Asia/Tokyo"), ("MIT", "Pacific/Apia"), ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"), ("PLT", "Asia/Karachi"), ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"), ("PST", "America/Los_Angeles"), ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// The instant of a local time in a zone; both in microseconds since the epoch.
pub(in crate::expr) fn to_utc(micros: i64, zone: &str) -> Result<i64, NoTime> {
    let zone = trimmed(zone);
    if let Some(seconds) = fixed_offset(zone) {
        if seconds.abs() > 18 * 3600 {
            return Err(NoTime::Malformed);
        }
        return micros.checked_sub(seconds * SECOND).ok_or(NoTime::Malformed);
    }
    let name = SHORT_NAMES
        .iter()
        .find(|(short, _)| *short == zone)
        .map_or(zone, |(_, name)| name);
    let is_name = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let named = chrono_tz::Tz::from_str(name).map_err(|_| match is_name {
        true => NoTime::Zone,
        false => NoTime::Malformed,
    })?;
    let local = clock(micros).ok_or(NoTime::Zone)?;
    // The tables end there; recurring rules for later years are not included.
    if calendar_of(micros.div_euclid(DAY)).0 >= 2100 {
        return Err(NoTime::Zone);
    }
    let offset = match named.offset_from_local_datetime(&local).earliest() {
        Some(offset) => offset,
        // A local time that was skipped is interpreted with the offset before the transition.
        None => (1..=24)
            .find_map(|hours| {
                let before = local.checked_sub_signed(TimeDelta::hours(hours))?;
                named.offset_from_local_datetime(&before).latest()
            })
            .ok_or(NoTime::Zone)?,
    };
    let seconds = i64::from(offset.fix().local_minus_utc());
    micros.checked_sub(seconds * SECOND).ok_or(NoTime::Malformed)
}

fn clock(micros: i64) -> Option<NaiveDateTime> {
    let day = i32::try_from(micros.div_euclid(DAY)).ok()?;
    let midnight = NaiveDate::from_epoch_days(day)?.and_hms_opt(0, 0, 0)?;
    midnight.checked_add_signed(TimeDelta::microseconds(micros.rem_euclid(DAY)))
}

/// Seconds east of Greenwich: `Z`, `+1`, `-05:00`, `+0530`, also after `UTC`, `GMT` or `UT`; and the
/// three-letter names of offsets.
fn fixed_offset(zone: &str) -> Option<i64> {
    match zone {
        "Z" | "UTC" | "GMT" | "UT" => return Some(0),
        "EST" => return Some(-5 * 3600),
        "MST" => return Some(-7 * 3600),
        "HST" => return Some(-10 * 3600),
        _ => {}
    }
    let offset = ["UTC", "GMT", "UT"]
        .into_iter()
        .find_map(|prefix| zone.strip_prefix(prefix))
        .unwrap_or(zone);
    let mut reader = Reader(offset);
    let sign = if reader.take(&['+', '-'])? == '-' { -1 } else { 1 };
    let parts: Vec<&str> = reader.0.split(':').collect();
    let number = |text: &str, most: i64| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>()
            .ok()
            .filter(|number| digits && *number <= most)
    };
    let seconds = match parts.as_slice() {
        [hours] if hours.len() <= 2 => number(hours, 18)? * 3600,
        [run] if matches!(run.len(), 4 | 6) => {
            let pair = |at: usize, most| run.get(at..at + 2).map_or(Some(0), |pair| number(pair, most));
            pair(0, 18)? * 3600 + pair(2, 59)? * 60 + pair(4, 59)?
        }
        [hours, minutes] => number(hours, 18)? * 3600 + number(minutes, 59)? * 60,
        [hours, minutes, seconds] if hours.len() == 2 && minutes.len() == 2 && seconds.len() == 2 => {
            number(hours, 18)? * 3600 + number(minutes, 59)? * 60 + number(seconds, 59)?
        }
        _ => return None,
    };
    Some(sign * seconds)
}

#[cfg(test)]
mod tests {
    use crate::expr::time::spellings::read_timestamp;

    #[test]
    fn a_clock_that_was_put_forward_or_back_is_read_by_the_clock_before() {
        assert_eq!(
            read_timestamp("2026-03-29 02:30:00 Europe/Rome"),
            read_timestamp("2026-03-29 01:30:00Z")
        );
        assert_eq!(
            read_timestamp("2026-10-25 02:30:00 Europe/Rome"),
            read_timestamp("2026-10-25 00:30:00Z")
        );
    }
}
