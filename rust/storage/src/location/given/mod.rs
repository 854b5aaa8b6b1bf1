//! What the user and the environment give: the URI and the options of its store, under all their names.

pub(super) mod environment;
pub(super) mod hadoop;
pub(super) mod names;
pub(super) mod options;
pub(super) mod uri;
