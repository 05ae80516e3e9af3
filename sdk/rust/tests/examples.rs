//! The libraries of `examples/filters`, built and loaded as eddy loads them.
#![cfg(not(miri))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use eddy_sdk::test::{Chain, Configured, Library, Request, Response};

const CREDENTIALS: &str = "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk";
const USER: &str = r#"{"username": "fooname", "password": "validpassword"}"#;

/// Returns the root of the repository by name: symbolic links are not resolved.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().and_then(Path::parent).expect("the SDK is two folders deep")
}

/// Builds the Rust examples beside this test, in its profile.
fn rust(name: &str) -> Library {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let own = std::env::current_exe().expect("this program has a path");
        let folder = own.parent().and_then(Path::parent).expect("it lies in `deps`").to_owned();
        let (target, profile) = (folder.parent(), folder.file_name().and_then(|name| name.to_str()));
        let profile = profile.map(|name| if name == "debug" { "dev" } else { name });
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(root()).args(["build", "--offline", "--profile", profile.expect("a profile")]);
        build.arg("--target-dir").arg(target.expect("a target folder"));
        for example in ["passthrough", "basic-auth", "header-get-set", "body-read", "body-rewrite"] {
            build.args(["-p", &format!("eddy-example-{example}")]);
        }
        run(&mut build);
        folder
    });
    load(&folder.join(format!("lib{}.so", name.replace('-', "_"))))
}

/// Builds the C examples.
fn c(name: &str) -> Library {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples-c");
        run(make().arg(format!("BUILD={}", folder.display())).arg("all"));
        folder
    });
    load(&folder.join(format!("lib{}.so", name.replace('-', "_"))))
}

fn make() -> Command {
    let mut make = Command::new("make");
    // Variables of the make that runs this test must not affect the other one.
    make.current_dir(root().join("examples/filters/c")).env_remove("MAKEFLAGS").arg("-s");
    make
}

fn load(path: &Path) -> Library {
    // SAFETY: the library was just built from this repository.
    let loaded = unsafe { Library::load(path) };
    loaded.expect("the library loads")
}

fn run(command: &mut Command) {
    let done = command.output().expect("cargo, make and a C compiler can be run");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn ok(_: &Request) -> Response {
    Response::new(200).field("Server", "demo").piece("a cat, a c").piece("at\n")
}

fn check_basic_auth(library: &Library) {
    assert_eq!(library.names(), ["basic-auth"]);
    let filter = library.filter("basic-auth", USER).expect("it is right");
    let chain = Chain::new().room(0).then(&filter);
    assert!(chain.send(Request::get("/").field("authorization", CREDENTIALS), ok).was_sent());
    for request in [Request::get("/"), Request::get("/").field("authorization", "Basic Zm9vbmFtZTpi")] {
        let outcome = chain.send(request, ok);
        assert!(!outcome.was_sent());
        assert_eq!(outcome.answered().status, 401);
        assert_eq!(outcome.answered().get_field("www-authenticate"), Some("Basic realm=\"restricted\""));
        assert_eq!(outcome.answered().whole_body(), b"credentials are needed\n");
    }
    let rule = filter.rule(r#"{"password": "b"}"#).expect("it is right");
    let ruled = Chain::new().then(&filter).with_rule(&rule);
    assert!(ruled.send(Request::get("/").field("authorization", "Basic Zm9vbmFtZTpi"), ok).was_sent());
    assert!(!ruled.send(Request::get("/").field("authorization", CREDENTIALS), ok).was_sent());
    assert!(library.filter("basic-auth", r#"{"username": "a:b", "password": ""}"#).is_err());
}

fn check_header_get_set(library: &Library) {
    assert_eq!(library.names(), ["header-get-set"]);
    let filter = library.filter("header-get-set", "null").expect("there are no keys");
    let twice = Chain::new().then(&filter).then(&filter);
    for room in [0, 24, 4096] {
        let outcome = twice.clone().room(room).send(Request::get("/").field("Host", "a.example"), ok);
        assert_eq!(outcome.sent().fields.all("host2").collect::<Vec<_>>(), ["a.example"]);
        assert_eq!(outcome.answered().fields.all("server2").collect::<Vec<_>>(), ["demo"]);
        assert_eq!(outcome.crossings(), 2, "one a head for both");
    }
    assert!(library.filter("header-get-set", r#"{"a": "b"}"#).is_err());
}

#[test]
fn basic_auth_in_rust() {
    check_basic_auth(&rust("basic-auth"));
}

#[test]
fn basic_auth_in_c() {
    check_basic_auth(&c("basic-auth"));
}

#[test]
fn header_get_set_in_rust() {
    check_header_get_set(&rust("header-get-set"));
}

#[test]
fn header_get_set_in_c() {
    check_header_get_set(&c("header-get-set"));
}

#[test]
fn passthrough_in_rust() {
    let filter = rust("passthrough").filter("passthrough", "null").expect("it has no configuration");
    let outcome = Chain::new().then(&filter).then(&filter).send(Request::get("/").field("a", "1"), ok);
    assert_eq!(outcome.sent(), &Request::get("/").field("a", "1"));
    assert_eq!(outcome.answered(), &ok(outcome.sent()));
}

#[test]
fn body_read_in_rust() {
    let filter = rust("body-read").filter("body-read", "null").expect("it needs no configuration");
    let outcome = Chain::new().then(&filter).send(Request::get("/"), ok);
    assert_eq!(outcome.answered(), &ok(outcome.sent()));
    assert_eq!(outcome.metadata("body-read", "found"), Some("1"));
}

#[test]
fn body_rewrite_in_rust() {
    let filter = rust("body-rewrite").filter("body-rewrite", r#"{"find": "cat", "replace": "dog"}"#);
    let filter = filter.expect("it is right");
    let outcome = Chain::new().then(&filter).send(Request::post("/", "cats").piece(" cat"), ok);
    assert_eq!(outcome.sent().body, [b"dogs dog".to_vec()]);
    assert_eq!(outcome.answered().whole_body(), b"a dog, a dog\n");
}

#[test]
fn body_rewrite_in_c() {
    let filter = c("body-rewrite").filter("body-rewrite", r#"{"find": "cat", "replace": "dog"}"#);
    let filter = filter.expect("it is right");
    let chain = Chain::new().then(&filter);
    let text = |request: &Request| ok(request).field("Content-Type", "text/plain").field("ETag", "1");
    let outcome = chain.send(Request::get("/"), text);
    assert_eq!(outcome.answered().whole_body(), b"a dog, a dog\n");
    assert_eq!(outcome.answered().get_field("etag"), None);
    let outcome = chain.send(Request::get("/"), ok);
    assert_eq!(outcome.answered(), &ok(outcome.sent()), "it is no text");
    let rule = filter.rule(r#"{"replace": ""}"#).expect("it is right");
    let outcome = Chain::new().then(&filter).with_rule(&rule).send(Request::get("/"), text);
    assert_eq!(outcome.answered().whole_body(), b"a , a \n");
    assert!(c("body-rewrite").filter("body-rewrite", "null").is_err());
}

#[test]
fn libraries_of_both_languages_work_in_one_chain() {
    let auth = c("basic-auth").filter("basic-auth", USER).expect("it is right");
    let mark = rust("header-get-set").filter("header-get-set", "{}").expect("there are no keys");
    let chain = Chain::new().then(&auth).then(&mark);
    let outcome = chain.send(Request::get("/").field("authorization", CREDENTIALS), ok);
    assert_eq!(outcome.sent().get_field("host2"), Some("example.com"));
    assert_eq!(outcome.answered().get_field("server2"), Some("demo"));
    let outcome = chain.send(Request::get("/"), ok);
    assert_eq!(outcome.answered().get_field("server2"), None, "it was not reached");
}

#[test]
fn filters_serve_several_threads() {
    let chains: Vec<Configured> = vec![
        rust("header-get-set").filter("header-get-set", "{}").expect("there are no keys"),
        c("header-get-set").filter("header-get-set", "{}").expect("there are no keys"),
    ];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..200 {
                    let host = format!("host-{round}.example");
                    let chain = chains.iter().fold(Chain::new(), |chain, filter| chain.then(filter));
                    let outcome = chain.send(Request::get("/").field("host", &host), ok);
                    assert_eq!(outcome.sent().get_field("host2"), Some(host.as_str()));
                }
            });
        }
    });
}

#[test]
fn the_tests_of_the_c_examples_pass_with_sanitizers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples-c-test");
    run(make().arg(format!("BUILD={}", folder.display())).arg("test"));
}

#[test]
fn a_file_that_is_not_a_library_is_refused() {
    for (path, says) in
        [("/nowhere.so", "dynamic linker"), ("/usr/lib/x86_64-linux-gnu/libm.so.6", "eddy_library_open")]
    {
        if path.starts_with("/usr") && !Path::new(path).exists() {
            eprintln!("skipped: there is no {path} on this machine");
            continue;
        }
        // SAFETY: a library without the symbol, or not a library.
        let refused = unsafe { Library::load(Path::new(path)) };
        assert!(refused.expect_err("it is none").contains(says), "{path}");
    }
}
