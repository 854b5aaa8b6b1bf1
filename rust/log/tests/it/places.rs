//! Arbitrary URIs and options: a location or an error, never a panic; a location's URI parses to itself.

use std::collections::BTreeMap;

use deltaic_protocol::ErrorKind;
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use proptest::prelude::*;

fn uri() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec![
        "s3", "s3a", "S3", "az", "abfs", "abfss", "gs", "file", "memory", "hdfs", "",
    ]);
    let rest = prop_oneof![
        "[a-z0-9.-]{0,12}(/[a-z %=:äß.]{0,8}){0,4}",
        "[a-z]{1,5}@[a-z]{1,5}(\\.dfs\\.core\\.windows\\.net)?/[a-z]{0,5}",
        "\\PC{0,24}",
    ];
    prop_oneof![
        4 => (scheme, rest).prop_map(|(scheme, rest)| format!("{scheme}://{rest}")),
        1 => any::<String>(),
    ]
}

fn options() -> impl Strategy<Value = BTreeMap<String, String>> {
    let name = prop_oneof![
        prop::sample::select(vec![
            "aws_region",
            "region",
            "aws_endpoint",
            "allow_http",
            "max_retries",
            "retry_timeout",
            "account_name",
            "account_key",
            "sas_token",
            "google_service_account_key",
            "fs.s3a.endpoint",
            "fs.s3a.bucket.b.access.key",
            "fs.azure.account.key.acc.dfs.core.windows.net",
            "fs.azure.sas.c.acc.blob.core.windows.net",
            "fs.azure.account.oauth2.client.endpoint",
            "spark.hadoop.fs.s3a.connection.timeout",
        ])
        .prop_map(str::to_owned),
        "[a-z_.]{0,12}",
        "fs\\.(s3a|azure|gs)\\.[a-z.]{0,20}",
    ];
    let value = prop_oneof!["(true|false|5|30s|a2V5|http://h|https://h/t)", "\\PC{0,12}"];
    prop::collection::btree_map(name, value, 0..4)
}

proptest! {
    #[test]
    fn a_uri_with_options_is_a_place_or_an_error(uri in uri(), options in options()) {
        let known = [ErrorKind::InvalidArgument, ErrorKind::UnsupportedFeature];
        match TableLocation::with_options(&uri, StorageOptions::from(options.clone()), Vec::new()) {
            Err(error) => prop_assert!(known.contains(&error.kind()), "{error:?}"),
            Ok(table) => {
                prop_assert!(table.uri().ends_with('/'));
                let again = TableLocation::with_options(
                    table.uri(), StorageOptions::from(options), Vec::new(),
                ).expect("a place is a place again");
                prop_assert_eq!(again.uri(), table.uri());
            }
        }
    }

    #[test]
    fn log_paths_remain_on_their_store(path in prop_oneof![uri(), any::<String>()]) {
        let options: BTreeMap<_, _> = [("aws_region".to_owned(), "here".to_owned())].into();
        let table = TableLocation::with_options("s3://b/t", StorageOptions::from(options), Vec::new())
            .expect("a place");
        if let Ok(resolved) = table.resolve(&path) {
            prop_assert!(resolved.as_ref().starts_with("t/"), "{path} leads to {resolved}");
        }
    }
}
