//! Validation and serialization of proposals.

use deltaic_protocol::deletion_vector::Descriptor;

use super::*;

fn add(path: &str, vector: Option<&str>) -> Add {
    Add {
        path: path.to_owned(),
        deletion_vector: vector.map(descriptor),
        ..Add::default()
    }
}

fn descriptor(text: &str) -> Descriptor {
    Descriptor {
        storage_type: "p".to_owned(),
        path_or_inline_dv: text.to_owned(),
        offset: None,
        size_in_bytes: 1,
        cardinality: 1,
    }
}

fn txn(app_id: &str) -> Txn {
    Txn {
        app_id: app_id.to_owned(),
        version: 1,
        last_updated: None,
    }
}

fn domain(name: &str) -> DomainMetadata {
    DomainMetadata {
        domain: name.to_owned(),
        configuration: String::new(),
        removed: false,
    }
}

/// protocol: add-file-and-remove-file.3
#[test]
fn a_commit_states_one_thing_of_each_file_application_and_domain() {
    let removed = |add: &Add| Remove::of(add, 1);
    let (plain, cut) = (add("a", None), add("a", Some("/v")));
    let sound = Proposal {
        adds: vec![cut.clone(), add("b", None)],
        removes: vec![removed(&plain), removed(&add("c", None))],
        txns: vec![txn("x"), txn("y")],
        domains: vec![domain("x"), domain("y")],
        ..Proposal::default()
    };
    assert!(sound.validate().is_ok());
    let with = |change: &dyn Fn(&mut Proposal)| {
        let mut proposal = sound.clone();
        change(&mut proposal);
        proposal.validate().err()
    };
    for (change, field, name) in [
        (
            &(|p: &mut Proposal| p.adds.push(add("b", Some("/v")))) as &dyn Fn(&mut Proposal),
            "path",
            "b",
        ),
        (
            &|p: &mut Proposal| p.adds.extend([add("/d", None), add("file:///d", None)]),
            "path",
            "file:///d",
        ),
        (
            &|p: &mut Proposal| p.removes.push(Remove::of(&add("c", Some("/v")), 1)),
            "path",
            "c",
        ),
        (&|p: &mut Proposal| p.adds.push(add("c", None)), "path", "c"),
        (&|p: &mut Proposal| p.txns.push(txn("x")), "app_id", "x"),
        (&|p: &mut Proposal| p.domains.push(domain("y")), "domain", "y"),
    ] {
        let error = with(change);
        assert!(
            error
                .as_ref()
                .is_some_and(|error| error.context() == [(field, name.into())]),
            "{field} {name}: {error:?}"
        );
    }
}

#[test]
fn operations_are_reported_by_their_names() {
    let named = |name: &str| Proposal {
        operation: Operation::parse(name).expect("a known name"),
        ..Proposal::default()
    };
    assert!(named("MERGE").operation.changes_data() && !named("OPTIMIZE").operation.changes_data());
    assert!(
        named("CREATE OR REPLACE TABLE").operation.replaces_table()
            && !named("WRITE").operation.replaces_table()
    );
    assert!(named("ROW TRACKING BACKFILL").is_backfill() && !named("WRITE").is_backfill());
    assert!(named("ROW TRACKING UNBACKFILL").is_unbackfill());
    assert!(named("WRITE").is_empty());
}

/// protocol: writer-requirements-for-in-commit-timestamps.2
#[test]
fn provenance_is_the_first_action() -> Result<()> {
    let proposal = Proposal {
        adds: vec![add("a", None)],
        removes: vec![Remove::of(&add("b", None), 1)],
        txns: vec![txn("x")],
        domains: vec![domain("d")],
        ..Proposal::default()
    };
    let text = String::from_utf8(proposal.to_bytes(&json!({"txnId": "t"}))?).unwrap_or_default();
    let starts: Vec<&str> = text.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(starts, ["commitInfo", "domainMetadata", "txn", "remove", "add"]);
    Ok(())
}

#[test]
#[expect(
    unsafe_code,
    reason = "builds a String that is not UTF-8, as unchecked Arrow arrays can contain"
)]
fn a_commit_that_is_not_utf8_json_is_never_written() {
    let broken = Proposal {
        // SAFETY: violated on purpose; only the serializer reads the text.
        adds: vec![add(
            &unsafe { String::from_utf8_unchecked(b"caf\xe9".to_vec()) },
            None,
        )],
        ..Proposal::default()
    };
    let error = broken.to_bytes(&json!({})).expect_err("the path is not UTF-8");
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(
        error
            .to_string()
            .starts_with("line 2 of the commit is not valid UTF-8 JSON"),
        "{error}"
    );
    for line in [&b"{\"a\":\xff}\n"[..], b"{\n", b"{} {}\n", b"\n", b"{}\nNaN\n"] {
        assert!(ensure_json_lines(line).is_err(), "{line:?}");
    }
    assert!(ensure_json_lines("{\"é\":1}\n{}\n".as_bytes()).is_ok());
}
