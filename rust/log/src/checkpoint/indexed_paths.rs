//! Which columns' statistics stand in a checkpoint as columns: those that writers index.
//!
//! Protocol: *Checkpoints*.

use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::properties::IndexedColumns;
use deltaic_protocol::schema::{ColumnName, DataType, StructType};

/// The paths of the columns that writers gather statistics of, in the log's names.
pub(super) fn indexed_paths(
    schema: &StructType,
    indexed: &IndexedColumns,
    mode: ColumnMappingMode,
) -> Vec<Vec<String>> {
    let mut walk = Walk {
        named: match indexed {
            IndexedColumns::Named(names) => Some(names),
            _ => None,
        },
        left: match indexed {
            IndexedColumns::First(count) => *count,
            IndexedColumns::All | IndexedColumns::Named(_) => usize::MAX,
        },
        mode,
        found: Vec::new(),
    };
    walk.go(schema, &mut Vec::new(), &mut Vec::new());
    walk.found
}

struct Walk<'a> {
    named: Option<&'a Vec<ColumnName>>,
    left: usize,
    mode: ColumnMappingMode,
    found: Vec<Vec<String>>,
}

impl Walk<'_> {
    fn go(&mut self, schema: &StructType, path: &mut Vec<String>, in_log: &mut Vec<String>) {
        for field in &schema.fields {
            if self.left == 0 {
                return;
            }
            path.push(field.name.clone());
            in_log.push(name_in_log(field, self.mode).to_owned());
            match &field.data_type {
                DataType::Struct(inner) => self.go(inner, path, in_log),
                _ if self
                    .named
                    .is_none_or(|names| names.iter().any(|name| path.starts_with(name.parts()))) =>
                {
                    self.left -= 1;
                    self.found.push(in_log.clone());
                }
                _ => {}
            }
            path.pop();
            in_log.pop();
        }
    }
}
