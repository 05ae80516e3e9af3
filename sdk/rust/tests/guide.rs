//! The filters of the guide compile, pass their own tests and load.
#![cfg(not(miri))]

use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_sdk::test::{Chain, Library, Request, Response};

#[test]
fn the_c_filter_works_as_in_the_guide() {
    let folder = folder("guide-c");
    write(&folder.join("keyed.c"), &block("c"));
    let library = folder.join("libkeyed.so");
    let mut cc = Command::new("cc");
    cc.args("-std=c11 -O2 -Wall -Wextra -Wconversion -Werror -fPIC -fvisibility=hidden -shared".split(' '));
    cc.arg("-I").arg(root().join("abi")).arg("-o").args([library.clone(), folder.join("keyed.c")]);
    run(&mut cc);
    check(&library, r#""s3cret""#, r#""theirs""#);
}

#[test]
fn the_rust_filter_works_as_in_the_guide() {
    let folder = folder("guide-rust");
    let kit = root().join("sdk/rust");
    let manifest = block("toml").replace("\"../eddy/sdk/rust\"", &format!("{:?}", kit.display().to_string()));
    write(&folder.join("Cargo.toml"), &format!("{manifest}\n[workspace]\n"));
    write(&folder.join("src/lib.rs"), &block("rust"));
    // Uses the same versions as here, so that no registry is queried.
    let lock = std::fs::read(root().join("Cargo.lock")).expect("the workspace has a lock file");
    std::fs::write(folder.join("Cargo.lock"), lock).expect("the folder for tests can be written");
    let target = folder.join("target");
    for command in ["test", "build"] {
        let mut cargo = Command::new(env!("CARGO"));
        run(cargo.current_dir(&folder).args([command, "--offline", "--target-dir"]).arg(&target));
    }
    check(&target.join("debug/libkeyed.so"), r#"{"key": "s3cret"}"#, r#"{"key": "theirs"}"#);
}

fn check(library: &Path, config: &str, rule: &str) {
    // SAFETY: the library was just built from this repository.
    let library = unsafe { Library::load(library) }.expect("it loads");
    let filter = library.filter("keyed", config).expect("the configuration of the guide is right");
    assert!(library.filter("keyed", "17").is_err());
    let rule = filter.rule(rule).expect("the configuration of the guide is right");
    let send = |chain: Chain, key| chain.send(Request::get("/").field("X-Key", key), |_| Response::new(200));
    let passed = send(Chain::new().then(&filter), "s3cret");
    assert_eq!(passed.sent().get_field("x-key"), None);
    assert_eq!(passed.answered().get_field("x-keyed"), Some("yes"));
    let refused = send(Chain::new().then(&filter), "theirs");
    assert_eq!((refused.was_sent(), refused.answered().status, refused.details()), (false, 403, "no_key"));
    assert!(send(Chain::new().then(&filter).with_rule(&rule), "theirs").was_sent());
}

/// Returns the first code block of the guide in a language.
fn block(language: &str) -> String {
    let guide =
        std::fs::read_to_string(root().join("docs/guide/native-filters.md")).expect("there is a guide");
    let (_, rest) = guide.split_once(&format!("```{language}\n")).expect("the guide has such a block");
    rest.split_once("\n```").expect("a block ends").0.to_owned() + "\n"
}

fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().and_then(Path::parent).expect("the SDK is two folders deep")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("src")).expect("the folder for tests can be written");
    folder
}

/// Writes a file only if it differs, so that nothing is rebuilt unnecessarily.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::write(path, text).expect("the folder for tests can be written");
    }
}

fn run(command: &mut Command) {
    let done = command.output().expect("cargo and a C compiler can be run");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
