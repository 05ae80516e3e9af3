//! The test cases of `abi/vectors`, which give the same results in every guest.
#![cfg(not(miri))]

#[path = "vectors/case.rs"]
mod case;
#[path = "vectors/filter.rs"]
mod filter;
#[allow(dead_code, reason = "this runner lacks nothing that a case may need")]
#[path = "vectors/format.rs"]
mod format;

use std::path::Path;

use format::File;

#[test]
fn the_sdk_passes_the_abi_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/vectors");
    let mut count = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("there are vectors") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file of vectors");
        let file: File =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file.cases {
            count += 1;
            let place = format!("{}: {}", path.display(), case.name);
            wrong.extend(case.run().into_iter().map(|what| format!("{place}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 100, "there are only {count} cases");
}
