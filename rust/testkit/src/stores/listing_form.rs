//! Variations of a store's listing: any order, duplicates, foreign names, and missing names.

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, Result};

/// The order of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By name.
    #[default]
    ByName,
    /// By name, descending.
    Backwards,
    /// Every second name, followed by the others.
    Interleaved,
}

/// The form of a listing; correct by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingForm {
    /// The order.
    pub order: Order,
    /// Objects whose path contains one of these are listed twice.
    pub twice: Vec<String>,
    /// Objects whose path contains one of these are missing, as if just created.
    pub without: Vec<String>,
    /// Objects with names similar to existing ones are added.
    pub with_foreign: bool,
}

impl ListingForm {
    /// The objects of a listing as the store returns them.
    pub(crate) fn apply(&self, objects: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
        let holds = |texts: &[String], object: &ObjectMeta| {
            texts.iter().any(|text| object.location.as_ref().contains(text))
        };
        let mut listed = Vec::new();
        for object in objects {
            if holds(&self.without, &object) {
                continue;
            }
            if self.with_foreign {
                listed.extend(foreign(&object));
            }
            if holds(&self.twice, &object) {
                listed.push(object.clone());
            }
            listed.push(object);
        }
        match self.order {
            Order::ByName => listed,
            Order::Backwards => listed.into_iter().rev().collect(),
            Order::Interleaved => {
                let numbered = || listed.iter().enumerate();
                let odd = numbered().filter(|(number, _)| number % 2 == 1);
                let even = numbered().filter(|(number, _)| number % 2 == 0);
                odd.chain(even).map(|(_, object)| object.clone()).collect()
            }
        }
    }

    /// The same for a streamed listing.
    pub(crate) fn apply_to(
        self,
        objects: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        if self == Self::default() {
            return objects;
        }
        let listed = async move {
            let objects: Vec<ObjectMeta> = objects.try_collect().await?;
            Ok::<_, Error>(stream::iter(self.apply(objects).into_iter().map(Ok)))
        };
        stream::once(listed).try_flatten().boxed()
    }
}

/// Names that are not log files, but look similar.
fn foreign(object: &ObjectMeta) -> Vec<ObjectMeta> {
    let path = object.location.as_ref();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let names = [
        format!("{path}.tmp"),
        format!("{folder}/.{name}.crc"),
        format!("{folder}/{name}.00000000000000000099.json.tmp"),
        format!("{folder}/9{name}"),
        format!("{folder}/+{name}"),
        format!("{folder}/below/{name}"),
        format!("other/{path}"),
        format!("{folder}-old/{name}"),
    ];
    names
        .into_iter()
        .map(|name| ObjectMeta {
            location: Path::from(name),
            ..object.clone()
        })
        .collect()
}
