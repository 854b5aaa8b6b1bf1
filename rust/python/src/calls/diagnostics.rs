//! Collects the spans and events of deltaic's crates for Python's `logging`.
//!
//! The threads of the runtime never touch Python: they queue records, which the calling thread passes on while it waits.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record as Values};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber, callsite, level_filters::LevelFilter};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The targets of deltaic's spans and events start with this.
const OURS: &str = "deltaic::";
/// Further records are dropped until the queue is read.
const MOST_QUEUED: usize = 10_000;

/// What is recorded: nothing, `INFO`, or also `DEBUG`.
static LEVEL: AtomicU8 = AtomicU8::new(OFF);
const OFF: u8 = 0;
const INFO: u8 = 1;
const DEBUG: u8 = 2;

static QUEUED: AtomicUsize = AtomicUsize::new(0);
static QUEUE: OnceLock<(Sender<Record>, Mutex<Receiver<Record>>)> = OnceLock::new();

/// A record for Python's `logging`.
struct Record {
    level: Level,
    target: &'static str,
    message: String,
}

fn queue() -> &'static (Sender<Record>, Mutex<Receiver<Record>>) {
    QUEUE.get_or_init(|| {
        let (sender, receiver) = channel();
        (sender, Mutex::new(receiver))
    })
}

/// The fields of a span, and when it began.
struct Timed {
    began: Instant,
    fields: Fields,
}

/// Fields as text: `name=value name=value`, a message without its name.
#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}

impl Fields {
    /// Sets a field; a later value replaces an earlier one.
    fn put(&mut self, field: &Field, value: String) {
        match self.0.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, known)) => *known = value,
            None => self.0.push((field.name(), value)),
        }
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " " })?;
            match *name {
                "message" => f.write_str(value)?,
                name => write!(f, "{name}={value}")?,
            }
        }
        Ok(())
    }
}

struct Recorder;

fn is_recorded(metadata: &Metadata<'_>) -> bool {
    let most = match LEVEL.load(Ordering::Relaxed) {
        OFF => return false,
        INFO => Level::INFO,
        _ => Level::DEBUG,
    };
    *metadata.level() <= most && metadata.target().starts_with(OURS)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // `set_level` rebuilds the cache of these answers.
        if is_recorded(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        is_recorded(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match LEVEL.load(Ordering::Relaxed) {
            OFF => LevelFilter::OFF,
            INFO => LevelFilter::INFO,
            _ => LevelFilter::DEBUG,
        })
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(Timed {
            began: Instant::now(),
            fields,
        });
    }

    fn on_record(&self, id: &Id, values: &Values<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(timed) = span.extensions_mut().get_mut::<Timed>() {
            values.record(&mut timed.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        // The message comes first.
        fields.0.sort_by_key(|(name, _)| *name != "message");
        put(event.metadata(), fields.to_string());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(timed) = span.extensions().get::<Timed>() {
            let took = shown(timed.began.elapsed());
            put(
                span.metadata(),
                format!("{} {} ({took})", span.name(), timed.fields),
            );
        }
    }
}

/// A duration in milliseconds, from one second on in seconds.
fn shown(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let mut text = String::new();
    let _ = match seconds < 1.0 {
        true => write!(text, "{:.1} ms", seconds * 1000.0),
        false => write!(text, "{seconds:.2} s"),
    };
    text
}

fn put(metadata: &'static Metadata<'static>, message: String) {
    if QUEUED.fetch_add(1, Ordering::Relaxed) >= MOST_QUEUED {
        QUEUED.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let _ = queue().0.send(Record {
        level: *metadata.level(),
        target: metadata.target(),
        message,
    });
}

/// Sets what is recorded, by a level of Python's `logging`; `None` for nothing.
#[pyfunction]
#[pyo3(signature = (level))]
pub(crate) fn set_log_level(level: Option<i64>) {
    let level = match level {
        Some(..=10) => DEBUG,
        Some(11..=20) => INFO,
        Some(21..) | None => OFF,
    };
    if level != OFF {
        // Fails if it is set already.
        let _ = set_global_default(Registry::default().with(Recorder));
    }
    LEVEL.store(level, Ordering::Relaxed);
    callsite::rebuild_interest_cache();
}

/// Whether there are queued records.
pub(crate) fn has_records() -> bool {
    QUEUED.load(Ordering::Relaxed) > 0
}

/// Passes the queued records to Python's `logging`. A failure is reported to `sys.unraisablehook`: it must not fail what
/// was logged.
pub(crate) fn deliver(py: Python<'_>) {
    if has_records()
        && let Err(error) = pass_on(py)
    {
        error.write_unraisable(py, None);
    }
}

fn pass_on(py: Python<'_>) -> PyResult<()> {
    let records: Vec<Record> = {
        let receiver = queue().1.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.try_iter().collect()
    };
    QUEUED.fetch_sub(records.len(), Ordering::Relaxed);
    let get_logger = py.import("logging")?.getattr("getLogger")?;
    for record in records {
        let logger = get_logger.call1((record.target.replace("::", "."),))?;
        let level = if record.level == Level::INFO { 20 } else { 10 };
        logger.call_method1("log", (level, "%s", record.message))?;
    }
    Ok(())
}
