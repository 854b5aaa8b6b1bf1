//! The location of a table: a store, and the path of the table's root on it.

mod absolute;
mod confined;
mod connect;
mod environment;
mod hadoop;
mod local_files;
mod local_listing;
mod names;
mod network;
mod options;
mod parse;
mod per_process;
mod places;
mod remains;
mod remote_store;
mod resolve;
mod sent;
mod shared;
mod table_location;
mod unlisted;
mod uri;
mod without_secrets;
mod without_writes;

pub use self::options::StorageOptions;
pub use self::remains::LocalRemains;
pub use self::sent::Sent;
pub use self::table_location::TableLocation;
pub use self::without_secrets::without_secrets;
