//! The columns that a predicate refers to.

use super::expr::{Expr, ExprKind};
use super::predicate::Predicate;

impl Predicate {
    /// The columns as spelled in the predicate, each as its parts, including duplicates.
    ///
    /// ```
    /// use deltaic_protocol::expr::parse_predicate;
    /// let predicate = parse_predicate("a > 1 AND s.`x.y` IS NULL")?;
    /// assert_eq!(predicate.columns(), [vec!["a"], vec!["s", "x.y"]]);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn columns(&self) -> Vec<Vec<&str>> {
        let columns = self.root.columns().into_iter();
        columns
            .map(|names| names.iter().map(String::as_str).collect())
            .collect()
    }
}

impl Expr {
    /// The columns as spelled, including duplicates.
    pub(in crate::expr) fn columns(&self) -> Vec<&[String]> {
        let mut found = Vec::new();
        collect(self, &mut found);
        found
    }
}

fn collect<'a>(expr: &'a Expr, found: &mut Vec<&'a [String]>) {
    if let ExprKind::Column(names) = &expr.kind {
        found.push(names);
    }
    expr.kind
        .parts()
        .into_iter()
        .for_each(|part| collect(part, found));
}

#[cfg(test)]
mod tests {
    use crate::Result;
    use crate::expr::parse_predicate;

    #[test]
    fn columns_are_found_in_every_part() -> Result<()> {
        for text in [
            "c = 1",
            "1 < c",
            "NOT (c IS NULL)",
            "c IS TRUE",
            "c IN (1, 2)",
            "1 IN (2, c)",
            "c BETWEEN 1 AND 2",
            "1 BETWEEN c AND 2",
            "1 BETWEEN 0 AND c",
            "c LIKE 'a%'",
            "'a' LIKE c",
            "isnan(c)",
            "startswith(c, 'a')",
            "startswith('a', c)",
            "-c > 1",
            "1 + c > 1",
            "CAST(c AS INT) = 1",
            "1 = 1 AND (2 = 2 OR c)",
            "upper(c) = 'A'",
            "CASE WHEN c THEN 1 END = 1",
            "CASE c WHEN 1 THEN 1 END = 1",
            "CASE WHEN 1 = 1 THEN 1 ELSE c END = 1",
            "struct(1)[c] = 1",
        ] {
            assert_eq!(parse_predicate(text)?.columns(), [["c"]], "{text}");
        }
        assert!(parse_predicate("1 = 1")?.columns().is_empty());
        Ok(())
    }
}
