//! The tree is tidy, and each rule reports its violations.

use std::path::Path;

use xtask::docs::Page;
use xtask::metadata::{CrateRoot, Import, RootKind, Workspace, WorkspacePackage};
use xtask::tree::SourceTree;
use xtask::{docs, tidy};

#[test]
fn the_tree_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tree = SourceTree::load(root).unwrap();
    let workspace = Workspace::load(root, &tree).unwrap();
    assert!(workspace.packages.len() > 8, "cargo named only {:?}", workspace.packages);
    let problems = tidy::check(&tree, &workspace, &docs::generated());
    let listed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{} problems:\n{}", listed.len(), listed.join("\n"));
}

#[test]
fn the_planted_tree_is_tidy_before_anything_is_planted() {
    check(&Planted::new(), &[]);
}

#[test]
fn an_import_edge_missing_from_the_design_is_found() {
    let mut planted = Planted::new();
    planted.import("eddy-route", "eddy-upstream", true);
    check(&planted, &["crates/eddy-route/Cargo.toml: `eddy-route` imports `eddy-upstream`"]);
    let message = planted.problems().remove(0);
    assert!(message.contains("`eddy-route` may import `eddy-http`"), "{message}");
    assert!(message.contains("`eddy-upstream` may be imported by `eddy-proxy`"), "{message}");
}

#[test]
fn a_dev_dependency_edge_counts_as_well() {
    let mut planted = Planted::new();
    planted.workspace.packages[1].imports.push(Import {
        name: "eddy-io".to_owned(),
        is_local: true,
        is_dev: true,
    });
    check(&planted, &["`eddy-route` imports `eddy-io`"]);
}

#[test]
fn modules_that_import_each_other_are_found() {
    let mut planted = Planted::new();
    planted.append(
        "crates/eddy-route/src/index.rs",
        "use crate::order::native::Rank;\npub(crate) struct Index(Rank);",
    );
    check(&planted, &[]);
    planted
        .append("crates/eddy-route/src/order/native.rs", "pub(crate) struct Rank(Box<crate::index::Index>);");
    check(&planted, &["modules import each other"]);
    let message = planted.problems().remove(0);
    for part in [
        "crates/eddy-route/src/index.rs:2: ",
        "`crate::index` imports `crate::order::native` (crates/eddy-route/src/index.rs:2: `crate::order::native::Rank`)",
        "`crate::order::native` imports `crate::index` (crates/eddy-route/src/order/native.rs:2: `crate::index::Index`)",
        "move the shared item into a module below them",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn cycles_of_modules_are_found_through_reexports_aliases_and_macros() {
    // What `order` re-exports is part of `native`, which may thus import what another file of `order` defines.
    for (index, native, is_cycle) in [
        ("use crate::order::Rank;\n", "pub(crate) struct Rank;\nuse crate::index::Index;\n", true),
        ("use crate::order::Rank;\n", "pub(crate) struct Rank;\nuse super::Rank as Same;\n", false),
        (
            "use crate::order;\nfn f() { order::Rank; }\n",
            "pub(crate) struct Rank;\nfn f() { super::super::index::g(); }\n",
            true,
        ),
        (
            "fn f() { println!(\"{}\", crate::order::Rank); }\n",
            "pub(crate) struct Rank;\nuse crate::index::f;\n",
            true,
        ),
        ("use crate::order::{self, Rank};\n", "pub(crate) struct Rank;\n", false),
        ("use crate::order::*;\n", "pub(crate) struct Rank;\nuse crate::Index;\n", true),
        (
            "pub(in crate::order) struct Index;\n",
            "pub(crate) struct Rank;\nuse crate::index::Index;\n",
            false,
        ),
        // Tests import what they like.
        (
            "#[cfg(test)]\nmod tests { use crate::order::Rank; }\n",
            "pub(crate) struct Rank;\nuse crate::index::Index;\n",
            false,
        ),
        (
            "#[cfg(test)]\nuse crate::order::Rank;\n",
            "pub(crate) struct Rank;\nuse crate::index::Index;\n",
            false,
        ),
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/lib.rs", "pub use index::Index;");
        planted.append("crates/eddy-route/src/order/mod.rs", "pub(crate) use native::Rank;");
        planted.append("crates/eddy-route/src/index.rs", index);
        planted.append("crates/eddy-route/src/index.rs", "pub struct Index;");
        planted.append("crates/eddy-route/src/order/native.rs", native);
        let problems = planted.problems();
        assert_eq!(!problems.is_empty(), is_cycle, "{index}{native}: {problems:#?}");
        assert!(
            problems.iter().all(|problem| problem.contains("modules import each other")),
            "{problems:#?}"
        );
    }
}

#[test]
fn a_module_that_imports_upwards_is_found() {
    let mut planted = Planted::new();
    planted.package("eddy-guest");
    planted.append("crates/eddy-guest/src/lib.rs", "mod guest;\nmod stop;\nmod lua;\nmod wasm;");
    planted.write("crates/eddy-guest/src/guest.rs", "//! Guests.\n");
    planted.write("crates/eddy-guest/src/stop.rs", "//! Ends guests.\nuse crate::lua::Script;\n");
    planted.write("crates/eddy-guest/src/lua.rs", "//! Lua.\nuse crate::guest::Guest;\n");
    planted.write("crates/eddy-guest/src/wasm.rs", "//! Wasm.\n");
    check(&planted, &[]);
    planted.append("crates/eddy-guest/src/wasm.rs", "use crate::lua::Script;");
    check(&planted, &["crates/eddy-guest/src/wasm.rs:2: `wasm` imports `lua`"]);
    planted.append("crates/eddy-guest/src/guest.rs", "fn end() { crate::stop::stop(); }");
    planted.append("crates/eddy-guest/src/lib.rs", "mod other;");
    planted.write("crates/eddy-guest/src/other.rs", "//! Another module.\n");
    check(
        &planted,
        &[
            "wasm.rs:2: `wasm` imports `lua`",
            "modules import each other: `crate::guest` imports `crate::stop`",
            "guest.rs:2: `guest` imports `stop`",
            "the module `other` has no layer",
        ],
    );
}

#[test]
fn a_crate_without_a_row_is_found() {
    let mut planted = Planted::new();
    planted.package("eddy-cache");
    check(&planted, &["crate `eddy-cache` has no row"]);
}

#[test]
fn io_in_a_pure_crate_is_found() {
    let mut planted = Planted::new();
    planted.import("eddy-route", "tokio", false);
    check(&planted, &["`eddy-route` must not do I/O and can't import `tokio`"]);

    for (code, found) in [
        ("use std::fs::File;", "`std::fs::File`"),
        ("use std::{collections, time::{Duration, Instant}};", "`std::time::Instant`"),
        ("fn now() { let _ = std::time::SystemTime::now(); }", "`std::time::SystemTime::now`"),
        ("fn sleep() { std::thread::yield_now(); }", "`std::thread::yield_now`"),
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", code);
        check(&planted, &[&format!("{found} in `eddy-route`")]);
    }

    let mut planted = Planted::new();
    planted.append("crates/eddy-route/src/index.rs", "#[cfg(test)] mod tests { use std::fs::File; }");
    check(&planted, &[]);
}

#[test]
fn io_behind_other_crates_is_found() {
    let reached = [("hickory-resolver", "eddy-model"), ("bytes", "tokio"), ("tokio", "hickory-resolver")];
    for (name, expected) in [
        ("eddy-route", &[][..]),
        (
            "eddy-model",
            &[
                "without `hickory-resolver`, but is built with it: eddy-model → hickory-resolver",
                "without `tokio`, but is built with it: eddy-model → hickory-resolver → tokio",
            ],
        ),
    ] {
        let mut planted = Planted::new();
        planted.package("eddy-model");
        let package = planted.workspace.packages.iter_mut().find(|package| package.name == name).unwrap();
        package.reached = reached
            .iter()
            .map(|(reached, importer)| ((*reached).to_owned(), (*importer).to_owned()))
            .collect();
        check(&planted, expected);
    }
}

#[test]
fn uncounted_references_of_a_configuration_are_found() {
    let found = "with `eddy_ids::Shared`";
    for (code, expected) in [
        ("use std::sync::Arc;\n", &[found][..]),
        ("struct Rule { name: std::sync::Arc<str> }\n", &[found]),
        ("struct Rule { name: eddy_ids::Shared<str> }\n", &[]),
        ("#[cfg(test)] mod tests { use std::sync::Arc; }\n", &[]),
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", code);
        check(&planted, expected);
    }
    let mut planted = Planted::new();
    planted.append("crates/eddy-io/src/lib.rs", "use std::sync::Arc;");
    check(&planted, &[]);
}

#[test]
fn unsafe_outside_its_crates_is_found() {
    for code in [
        "fn f() { unsafe { g() } }",
        "unsafe fn f() {}",
        "struct S; unsafe impl Send for S {}",
        "unsafe trait T {}",
        "unsafe extern \"C\" { fn f(); }",
        "#[unsafe(no_mangle)] fn f() {}",
        "mod inner { impl super::S { unsafe fn f(&self) {} } }",
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", code);
        check(&planted, &["`unsafe` is only allowed below bench/bridge/host/, bench/calls/host/"]);
    }
    let allocator = "unsafe impl GlobalAlloc for Counting { unsafe fn alloc(&self) { unsafe { f() } } }";
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/tests/lookup.rs", &format!("{allocator} unsafe fn f() {{}}"));
    check(&planted, &["crates/eddy-route/tests/lookup.rs:2: `unsafe` is only allowed below"]);
    let mut planted = Planted::new();
    planted.append("crates/eddy-io/src/lib.rs", "unsafe fn f() {}");
    planted.append("crates/eddy-route/tests/lookup.rs", allocator);
    planted.append(
        "crates/eddy-route/src/index.rs",
        "/// unsafe { }\nconst WORD: &str = \"unsafe { }\"; // unsafe",
    );
    check(&planted, &[]);
}

#[test]
fn a_crate_that_does_not_forbid_unsafe_is_found() {
    let mut planted = Planted::new();
    planted.write("crates/eddy-http/src/lib.rs", "//! Messages.\n");
    check(
        &planted,
        &["crates/eddy-http/src/lib.rs: the first file of a crate must have `#![forbid(unsafe_code)]`"],
    );
}

#[test]
fn a_long_file_is_found_and_its_tests_do_not_count() {
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/src/index.rs", &"const _: () = ();\n".repeat(600));
    check(&planted, &["crates/eddy-route/src/index.rs: 602 lines without tests, more than 600"]);

    let mut planted = Planted::new();
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", "const _: () = ();\n".repeat(600));
    planted.append("crates/eddy-route/src/index.rs", &tests);
    planted.append("crates/eddy-route/tests/lookup.rs", &"const _: () = ();\n".repeat(2000));
    check(&planted, &[]);
}

#[test]
fn a_long_function_is_found() {
    let body = "    let _ = 1;\n".repeat(100);
    for code in [format!("fn long() {{\n{body}}}"), format!("struct S;\nimpl S {{ fn long() {{\n{body}}} }}")]
    {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", &code);
        check(&planted, &["function `long` has 102 lines, more than 100"]);
    }
}

#[test]
fn logic_in_a_contents_page_is_found() {
    for code in ["fn f() {}", "const N: usize = 1;", "mod inner { }", "macro_rules! m { () => {} }"] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/order/mod.rs", code);
        check(&planted, &["crates/eddy-route/src/order/mod.rs:3: `mod.rs` may only have"]);
    }
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/tests/lookup.rs", "mod place;");
    planted.write("crates/eddy-route/tests/place/mod.rs", "fn shared() {}\n");
    check(&planted, &[]);
}

#[test]
fn a_file_that_does_not_say_what_it_owns_is_found() {
    let mut planted = Planted::new();
    planted.write("crates/eddy-route/src/index.rs", "/// A thing.\npub struct S;\n");
    check(&planted, &["crates/eddy-route/src/index.rs:1: a file must begin with `//!`"]);
}

#[test]
fn vague_names_are_found() {
    for name in ["util", "common", "core", "misc", "helpers", "manager"] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/lib.rs", &format!("mod {name};"));
        planted.write(&format!("crates/eddy-route/src/{name}.rs"), "//! Things.\n");
        check(&planted, &[&format!("`{name}` says nothing about what the module owns")]);
    }
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/src/index.rs", "mod utils { }");
    check(&planted, &["crates/eddy-route/src/index.rs:2: `utils` says nothing"]);
}

#[test]
fn a_dead_file_is_found() {
    let mut planted = Planted::new();
    planted.write("crates/eddy-route/src/old.rs", "//! Forgotten.\n");
    planted.write("crates/eddy-route/src/order/older.rs", "//! Forgotten.\n");
    check(
        &planted,
        &[
            "crates/eddy-route/src/old.rs: no `mod` leads",
            "crates/eddy-route/src/order/older.rs: no `mod` leads",
        ],
    );
}

#[test]
fn modules_with_path_attributes_are_followed() {
    let mut planted = Planted::new();
    planted.append(
        "crates/eddy-route/src/lib.rs",
        "mod outer { mod inner; }\n#[path = \"../shared/odd.rs\"]\nmod even;\n#[cfg(feature = \"x\")]\nmod extra;",
    );
    planted.write("crates/eddy-route/src/outer/inner.rs", "//! One.\nmod leaf;\n");
    planted.write("crates/eddy-route/src/outer/inner/leaf.rs", "//! Two.\n");
    planted.write("crates/eddy-route/shared/odd.rs", "//! Three.\n");
    planted.write("crates/eddy-route/src/extra.rs", "//! Four.\n");
    check(&planted, &[]);
}

#[test]
fn a_crate_without_the_lints_is_found() {
    let mut planted = Planted::new();
    planted.write("crates/eddy-http/Cargo.toml", "[package]\nname = \"eddy-http\"\n");
    check(&planted, &["crates/eddy-http/Cargo.toml: a crate must have `[lints] workspace = true`"]);
}

#[test]
fn unfinished_work_without_an_issue_is_found() {
    let mark = concat!("TO", "DO");
    for (line, is_wrong) in [
        (format!("// {mark}: later"), true),
        (format!("// {mark}(me): later"), true),
        (format!("// {mark}(#): later"), true),
        (format!("// {mark}(#12): later"), false),
        (format!("// {mark}(#12): one, {mark}: two"), true),
        (concat!("// FIX", "ME: wrong").to_owned(), true),
        (concat!("// XX", "X").to_owned(), true),
        (format!("const {mark}S: usize = 1;"), false),
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", &line);
        assert_eq!(!planted.problems().is_empty(), is_wrong, "{line}: {:?}", planted.problems());
    }
    let mut planted = Planted::new();
    planted.write("examples/quick/eddy.yaml", &format!("# {mark}: finish\n"));
    check(&planted, &["examples/quick/eddy.yaml:1: unfinished work must name its issue"]);
}

#[test]
fn broken_links_are_found() {
    for (link, problem) in [
        ("[a](docs/guide/gone.md)", Some("`docs/guide/gone.md` does not exist")),
        ("[a](docs/guide/start.md)", None),
        ("[a](docs/guide)", None),
        ("[a](docs/guide/start.md#first-request)", None),
        ("[a](docs/guide/start.md#second-request)", Some("has no such heading")),
        ("[a](#whats-new)", None),
        ("[a](#old)", Some("has no such heading")),
        ("![p](docs/way.svg)", Some("`docs/way.svg` does not exist")),
        ("<img src=\"docs/way.svg\">", Some("`docs/way.svg` does not exist")),
        ("[a](https://www.rfc-editor.org/rfc/rfc9112)", None),
        ("`[a](gone.md)`", None),
        ("```\n[a](gone.md)\n```", None),
    ] {
        let mut planted = Planted::new();
        planted.append("README.md", link);
        match problem {
            Some(problem) => check(&planted, &[problem]),
            None => check(&planted, &[]),
        }
    }
    let mut planted = Planted::new();
    planted.write("crates/eddy-route/src/intro.md", "[a](made-elsewhere.json)\n");
    check(&planted, &[]);
    let mut planted = Planted::new();
    planted.append("docs/guide/start.md", "[up](../../README.md#whats-new) [gone](../gone.md)");
    check(&planted, &["docs/guide/start.md:5: broken link `../gone.md`"]);
}

#[test]
fn an_untested_example_is_found() {
    let mut planted = Planted::new();
    planted.write("examples/forgotten/eddy.yaml", "listeners: []\n");
    check(&planted, &["examples/forgotten: no test mentions `examples/forgotten`"]);
}

#[test]
fn a_difference_without_a_test_is_found() {
    let head = "| what | eddy | test |\n|---|---|---|\n";
    let page = "docs/reference/divergences.md";
    for (rows, problem) in [
        ("| a | b | `it_is_so` |", None),
        ("| a `\\|` | b | `it_is_so`, `it_waits` of the unit tests |", None),
        ("| a | b | `it_was_so` |", Some("divergences.md:3: test `it_was_so` does not exist")),
        ("| a | b | `it_helps` |", Some("test `it_helps` does not exist")),
        ("| a | b | by hand |", Some("names no test")),
        ("| a | b | |", Some("names no test")),
    ] {
        let mut planted = Planted::new();
        let tests = "#[test] fn it_is_so() {} fn it_helps() {} mod inner { #[tokio::test(flavor = \"x\")] async fn it_waits() {} }";
        planted.append("crates/eddy-route/tests/lookup.rs", tests);
        planted.write(page, &format!("{head}{rows}\n"));
        check(&planted, problem.as_slice());
    }
    let mut planted = Planted::new();
    planted.write(page, "| what | why |\n|---|---|\n");
    check(&planted, &["divergences.md:1: the last column of a list must name the test"]);
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/tests/lookup.rs", "#[test] fn it_is_so() {}");
    let row = "| a | b | `it_is_so` |\n";
    planted.write(page, &format!("{head}{0}\n{head}{0}", row.repeat(15)));
    check(&planted, &[]);
    planted.append(page, &row.repeat(3));
    check(&planted, &["divergences.md:36: a list has at most 15 rows"]);
}

#[test]
fn a_page_that_differs_from_the_code_is_found() {
    let mut planted = Planted::new();
    planted.write("docs/reference/config.md", "# Reference\n\nTwo keys.\n");
    check(&planted, &["docs/reference/config.md: differs from the code, first in line 3"]);
    let mut planted = Planted::new();
    planted.pages[0].path = "docs/reference/other.md".to_owned();
    check(&planted, &["docs/reference/other.md: this generated page is missing"]);
}

#[test]
fn a_file_with_a_syntax_error_is_found() {
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/src/index.rs", "fn (");
    check(&planted, &["crates/eddy-route/src/index.rs:2: "]);
}

#[test]
fn a_type_name_with_three_meanings_is_found() {
    let mut planted = Planted::new();
    planted.append("crates/eddy-http/src/lib.rs", "struct State; mod inner { enum State {} }");
    check(&planted, &[]);
    planted.append("crates/eddy-route/src/index.rs", "fn f() { trait State {} }");
    let places = ["crates/eddy-http/src/lib.rs:4: ", "crates/eddy-route/src/index.rs:2: "];
    check(
        &planted,
        &places
            .map(|place| format!("{place}the type name `State` is defined 3 times"))
            .each_ref()
            .map(String::as_str),
    );
}

#[test]
fn literal_arguments_for_booleans_are_found() {
    let own = "struct Gate; impl Gate { fn new(is_open: bool) -> Self { Self } fn set(&self, number: u8, is_open: bool) {} }
        fn open(is_wide: bool) {}";
    for (call, is_wrong) in [
        ("open(true);", true),
        ("crate::open(false);", true),
        ("Gate::new(true);", true),
        ("gate.set(1, false);", true),
        ("Gate::set(&gate, 1, false);", true),
        ("let is_wide = true; open(is_wide);", false),
        ("open(1 == 1);", false),
        ("AtomicBool::new(true);", false),
        ("gate.set(true);", false),
        ("other(true);", false),
    ] {
        let mut planted = Planted::new();
        planted.append("crates/eddy-io/src/lib.rs", own);
        planted.append("crates/eddy-io/src/lib.rs", &format!("fn f(gate: &Gate) {{ {call} }}"));
        assert_eq!(!planted.problems().is_empty(), is_wrong, "{call}: {:?}", planted.problems());
        let mut planted = Planted::new();
        planted.append("crates/eddy-io/src/lib.rs", own);
        planted.append(
            "crates/eddy-io/src/lib.rs",
            &format!("#[cfg(test)] mod tests {{ fn f(gate: &Gate) {{ {call} }} }}"),
        );
        check(&planted, &[]);
    }
    let mut planted = Planted::new();
    planted.append("crates/eddy-route/src/index.rs", own);
    planted.append("crates/eddy-io/src/lib.rs", "fn f() { Gate::new(false); open(false); }");
    check(&planted, &["crates/eddy-io/src/lib.rs:2: a call of `new` passes a literal `bool`"]);
}

#[test]
fn private_english_is_found() {
    let problem = |line: &str| {
        let mut planted = Planted::new();
        planted.append("crates/eddy-route/src/index.rs", line);
        planted.problems().first().cloned().unwrap_or_default()
    };
    for (line, expected) in [
        ("/// What a route holds.\nstruct Route;", "index.rs:2: a doc comment does not begin with `What`"),
        ("/// The same for a table.\nstruct Route;", "does not begin with `The same`"),
        ("/// Whatever.\nstruct Route;", ""),
        ("/// A route.\n/// What it holds is small.\nstruct Route;", ""),
        ("mod a {\n    //! Its parts.\n}", "index.rs:3: a doc comment does not begin with `Its`"),
        ("// An endpoint that is unwell.", "`unwell` is private English: write `unhealthy`"),
        ("const WORD: &str = \"unwell\";", ""),
        ("// Nobody reads it.", "`nobody` is private English"),
        ("// The path came offline.", ""),
    ] {
        let found = problem(line);
        assert!(
            if expected.is_empty() { found.is_empty() } else { found.contains(expected) },
            "{line}: {found}"
        );
    }
}

#[test]
fn documents_are_wrapped() {
    let long = "word ".repeat(30);
    for (text, is_wrong) in [
        (long.clone(), true),
        (format!("| {long} |"), false),
        (format!("```\n{long}\n```"), false),
        (format!("- {}", "a".repeat(150)), false),
        ("An endpoint is unwell.".to_owned(), true),
        ("The value `unwell`.".to_owned(), false),
    ] {
        let mut planted = Planted::new();
        planted.append("docs/guide/start.md", &text);
        assert_eq!(!planted.problems().is_empty(), is_wrong, "{text}: {:?}", planted.problems());
    }
}

/// A small tidy tree to add problems to.
struct Planted {
    tree: SourceTree,
    workspace: Workspace,
    pages: Vec<Page>,
}

impl Planted {
    fn new() -> Self {
        let mut planted =
            Self { tree: SourceTree::default(), workspace: Workspace::default(), pages: Vec::new() };
        for name in ["eddy-http", "eddy-route", "eddy-io"] {
            planted.package(name);
        }
        planted.import("eddy-route", "eddy-http", true);
        planted.import("eddy-route", "regex", false);
        planted.append("crates/eddy-route/src/lib.rs", "mod index;\nmod order;");
        planted.write("crates/eddy-route/src/index.rs", "//! Finds the rule.\n");
        planted.write("crates/eddy-route/src/order/mod.rs", "//! Orders.\nmod native;\n");
        planted.write("crates/eddy-route/src/order/native.rs", "//! The own order.\n");
        planted
            .write("crates/eddy-route/tests/lookup.rs", "const PATH: &str = \"examples/quick/eddy.yaml\";\n");
        let test =
            CrateRoot { path: "crates/eddy-route/tests/lookup.rs".to_owned(), kind: RootKind::Support };
        planted.workspace.packages[1].roots.push(test);
        planted.write("crates/eddy-io/src/lib.rs", "//! Sockets.\n");
        planted.write("examples/quick/eddy.yaml", "listeners: []\n");
        planted.write("README.md", "# eddy\n\n## What's new?\n\n");
        let page = "# Reference\n\nOne key.\n";
        planted.write("docs/reference/config.md", page);
        planted.pages.push(Page { path: "docs/reference/config.md".to_owned(), text: page.to_owned() });
        planted.write("docs/guide/start.md", "# Start\n\n## First request\n\n");
        planted
    }

    fn package(&mut self, name: &str) {
        let folder = format!("crates/{name}");
        self.write(&format!("{folder}/Cargo.toml"), "[lints]\nworkspace = true\n");
        self.write(&format!("{folder}/src/lib.rs"), "//! A crate.\n\n#![forbid(unsafe_code)]\n");
        self.workspace.packages.push(WorkspacePackage {
            name: name.to_owned(),
            manifest: format!("{folder}/Cargo.toml"),
            roots: vec![CrateRoot { path: format!("{folder}/src/lib.rs"), kind: RootKind::Product }],
            ..WorkspacePackage::default()
        });
    }

    fn import(&mut self, importer: &str, imported: &str, is_local: bool) {
        let package =
            self.workspace.packages.iter_mut().find(|package| package.name == importer).expect("planted");
        package.imports.push(Import { name: imported.to_owned(), is_local, is_dev: false });
    }

    fn write(&mut self, path: &str, text: &str) {
        self.tree.insert(path, text);
    }

    fn append(&mut self, path: &str, text: &str) {
        let before = self.tree.text(path).expect("planted").to_owned();
        self.tree.insert(path, &format!("{before}{text}\n"));
    }

    fn problems(&self) -> Vec<String> {
        tidy::check(&self.tree, &self.workspace, &self.pages).iter().map(ToString::to_string).collect()
    }
}

/// Expects exactly these problems, each recognised by a part of its text.
fn check(planted: &Planted, expected: &[&str]) {
    let problems = planted.problems();
    assert_eq!(problems.len(), expected.len(), "expected {expected:#?}, found {problems:#?}");
    for part in expected {
        assert!(problems.iter().any(|problem| problem.contains(part)), "no {part:?} in {problems:#?}");
    }
}
