//! Emulates the APIs of Amazon, Microsoft and Google, as far as a table needs them, over objects in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use bytes::Bytes;
use object_store::client::HttpRequest;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

/// An object, and its generation.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) bytes: Bytes,
    pub(crate) writing: usize,
}

/// The objects of a bucket by key.
pub(crate) type Objects = BTreeMap<String, Object>;

/// A response: status, headers and body.
#[derive(Debug, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
}

impl Response {
    /// An error response with a code in the format of each service. Repeats everything that the client sent, including
    /// secrets, as servers do.
    pub(crate) fn refusal(status: u16, code: &str, request: &HttpRequest) -> Self {
        let headers: Vec<&str> = request
            .headers()
            .values()
            .filter_map(|value| value.to_str().ok())
            .collect();
        let sent = format!("{} {}", request.uri(), headers.join(" ")).replace('&', "&amp;");
        let body = format!("<Error><Code>{code}</Code><Message>as the script says: {sent}</Message></Error>");
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }
}

/// Modification time of every object, in the formats of headers and listings.
const IN_HEADERS: &str = "Sat, 21 Nov 2026 00:00:00 GMT";
const IN_LISTINGS: &str = "2026-11-21T00:00:00.000Z";

/// Executes a request.
pub(crate) fn serve(objects: &mut Objects, request: &HttpRequest, body: Bytes, writing: usize) -> Response {
    let uri = request.uri();
    let is_azure = uri.host().is_some_and(|host| host.ends_with(".windows.net"));
    let path = percent_decode_str(uri.path()).decode_utf8_lossy();
    let key = path
        .trim_start_matches('/')
        .split_once('/')
        .map_or("", |(_, key)| key)
        .to_owned();
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    match request.method().as_str() {
        "GET" if key.is_empty() => list(objects, uri.query().unwrap_or_default(), is_azure),
        "GET" => get(objects, &key, header("range"), request),
        "HEAD" => Response {
            body: Bytes::new(),
            ..get(objects, &key, None, request)
        },
        "PUT" => {
            let if_absent =
                header("if-none-match") == Some("*") || header("x-goog-if-generation-match") == Some("0");
            if if_absent && objects.contains_key(&key) {
                return if is_azure {
                    Response::refusal(409, "BlobAlreadyExists", request)
                } else {
                    Response::refusal(412, "PreconditionFailed", request)
                };
            }
            objects.insert(key, Object { bytes: body, writing });
            Response {
                status: 201,
                headers: tags(writing),
                body: Bytes::new(),
            }
        }
        _ => Response::refusal(405, "MethodNotAllowed", request),
    }
}

fn tags(writing: usize) -> Vec<(&'static str, String)> {
    vec![
        ("etag", format!("\"{writing}\"")),
        ("last-modified", IN_HEADERS.to_owned()),
        ("x-goog-generation", writing.to_string()),
    ]
}

fn get(objects: &Objects, key: &str, range: Option<&str>, request: &HttpRequest) -> Response {
    let Some(object) = objects.get(key) else {
        return Response::refusal(404, "NoSuchKey", request);
    };
    let size = object.bytes.len();
    let mut headers = tags(object.writing);
    let (status, range) = match range.and_then(|text| range_of(text, size)) {
        Some(range) => {
            let last = range.end.saturating_sub(1);
            headers.push(("content-range", format!("bytes {}-{last}/{size}", range.start)));
            (206, range)
        }
        None => (200, 0..size),
    };
    headers.push(("content-length", range.len().to_string()));
    Response {
        status,
        headers,
        body: object.bytes.slice(range),
    }
}

fn range_of(text: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        return Some(size.saturating_sub(last.parse().ok()?)..size);
    }
    let end = last.parse().map_or(size, |last: usize| (last + 1).min(size));
    let start: usize = first.parse().ok()?;
    (start < end).then_some(start..end)
}

fn list(objects: &Objects, query: &str, is_azure: bool) -> Response {
    let asked: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let prefix = asked.get("prefix").map(String::as_str).unwrap_or_default();
    let after = asked.get("start-after").map(String::as_str).unwrap_or_default();
    let from = asked.get("startFrom").map(String::as_str).unwrap_or_default();
    let in_folder = asked.contains_key("delimiter");
    let mut folders = BTreeSet::new();
    let mut found = String::new();
    for (key, object) in objects {
        let Some(below) = key.strip_prefix(prefix) else {
            continue;
        };
        if key.as_str() <= after || key.as_str() < from {
            continue;
        }
        if let Some((folder, _)) = below.split_once('/').filter(|_| in_folder) {
            folders.insert(format!("{prefix}{folder}/"));
            continue;
        }
        let (size, writing) = (object.bytes.len(), object.writing);
        // Writing to a string does not fail.
        let _ = if is_azure {
            write!(
                found,
                "<Blob><Name>{key}</Name><Properties><Last-Modified>{IN_HEADERS}</Last-Modified>\
                 <Content-Length>{size}</Content-Length><Content-Type>x</Content-Type>\
                 <Etag>{writing}</Etag></Properties></Blob>"
            )
        } else {
            write!(
                found,
                "<Contents><Key>{key}</Key><LastModified>{IN_LISTINGS}</LastModified>\
                 <ETag>\"{writing}\"</ETag><Size>{size}</Size></Contents>"
            )
        };
    }
    for folder in folders {
        let _ = if is_azure {
            write!(found, "<BlobPrefix><Name>{folder}</Name></BlobPrefix>")
        } else {
            write!(
                found,
                "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
            )
        };
    }
    let body = if is_azure {
        format!("<EnumerationResults><Blobs>{found}</Blobs><NextMarker /></EnumerationResults>")
    } else {
        format!("<ListBucketResult>{found}</ListBucketResult>")
    };
    Response {
        status: 200,
        headers: Vec::new(),
        body: body.into(),
    }
}
