//! Removes secrets from paths and URIs, so that errors can show them.

/// Removes possible secrets from a path or URI: the query and the user info, even if the URI is invalid.
#[must_use]
pub fn without_secrets(path: &str) -> String {
    let (scheme, rest) = scheme_of(path);
    let slashes = rest.len() - rest.trim_start_matches('/').len();
    let (start, rest) = rest.split_at(slashes);
    // Only a URI has user info.
    let is_uri = !scheme.is_empty() || slashes > 1;
    let rest = if is_uri { without_user(rest) } else { rest };
    let rest = without_query(rest);
    format!("{scheme}{start}{rest}")
}

/// Splits off the scheme of a text with its colon.
fn scheme_of(text: &str) -> (&str, &str) {
    let at = text.find(':').filter(|at| text.get(..*at).is_some_and(is_scheme));
    match at.and_then(|at| text.split_at_checked(at + 1)) {
        // A drive letter is not a scheme.
        Some((scheme, rest)) if scheme.len() > 2 => (scheme, rest),
        _ => ("", text),
    }
}

/// Whether a text can be a URI's scheme, which is short.
pub(super) fn is_scheme(text: &str) -> bool {
    text.len() <= 12
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Returns the part after the user info. A password may contain any character, though it should not.
fn without_user(rest: &str) -> &str {
    let authority = rest.split('/').next().unwrap_or(rest);
    let behind = |text: &str| text.rfind('@').map(|at| at + 1);
    let cut = behind(authority).or_else(|| {
        // `user:pass/word@host` has a user: the colon of a host is followed by a port number.
        let (_, port) = authority.split_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        if is_port { None } else { behind(rest) }
    });
    let rest = cut.and_then(|cut| rest.get(cut..)).unwrap_or(rest);
    // A nested URI.
    let inner = rest.find("//").and_then(|at| Some(at + behind(rest.get(at..)?)?));
    inner.and_then(|cut| rest.get(cut..)).unwrap_or(rest)
}

fn without_query(rest: &str) -> &str {
    let plain = rest.find(['?', '#']);
    // An encoded question mark is part of a name, unless what follows looks like a signature.
    let encoded = rest.find("%3F").or_else(|| rest.find("%3f")).filter(|at| {
        let behind = rest.get(*at..).unwrap_or_default().to_ascii_lowercase();
        ["sig", "token", "credential"]
            .iter()
            .any(|word| behind.contains(word))
    });
    let cut = plain.into_iter().chain(encoded).min();
    cut.and_then(|cut| rest.get(..cut)).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn no_client_who_signs_in_and_no_query_is_shown() {
        for (path, shown) in [
            ("s3://bucket/a@b/c.parquet", "s3://bucket/a@b/c.parquet"),
            ("a@b/c.parquet", "a@b/c.parquet"),
            ("t=10:00@x/c.parquet", "t=10:00@x/c.parquet"),
            ("http://host:80/a@b", "http://host:80/a@b"),
            ("C:/Users/a@b", "C:/Users/a@b"),
            ("/data/a@b?x", "/data/a@b"),
            ("s3://u:PlAnT@bucket/f", "s3://bucket/f"),
            ("s3://AKIA:Pl/AnT@bucket/f", "s3://bucket/f"),
            ("s3://u:PlAnT#x@bucket/f", "s3://bucket/f"),
            ("s3://u:PlAnT?x@bucket/f", "s3://bucket/f"),
            ("s3:/u:PlAnT@bucket/t", "s3:/bucket/t"),
            ("s3:u:PlAnT@bucket", "s3:bucket"),
            ("https:/u:PlAnT@bucket/f", "https:/bucket/f"),
            ("//u:PlAnT@bucket/f", "//bucket/f"),
            ("https:///u:PlAnT@bucket/f", "https:///bucket/f"),
            ("memory:/x/://u:PlAnT@t", "memory:/t"),
            ("abfss:/c@a.b://u:PlAnT@t/f", "abfss:/t/f"),
            ("f%3Fsig=PlAnT", "f"),
            ("what%3F.parquet", "what%3F.parquet"),
            ("https://h/p?sig=PlAnT#x", "https://h/p"),
        ] {
            assert_eq!(without_secrets(path), shown, "{path}");
        }
    }
}
