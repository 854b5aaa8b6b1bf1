//! The location of a table: a store, and the path of the table's root on it.

mod absolute;
mod confined;
mod given;
mod local_files;
mod local_listing;
mod parse;
mod places;
mod remains;
mod remote;
mod resolve;
mod table_location;
mod unlisted;
mod without_secrets;
mod without_writes;

pub use self::given::options::StorageOptions;
pub use self::remains::LocalRemains;
pub use self::remote::sent::Sent;
pub use self::table_location::TableLocation;
pub use self::without_secrets::without_secrets;
