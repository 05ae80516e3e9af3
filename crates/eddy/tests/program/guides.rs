//! Pages of the guide and READMEs of filter projects: their commands work as printed, and end in a 200.

use std::fs;
use std::path::Path;

use test_peers::{CLANG_WASM, CURL_HTTP2, GO, RUST_WASM, TestDependency};

use crate::projects::{ProjectFolder, blocks};
use crate::support::PageRun;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    fs::read_to_string(path).unwrap()
}

/// Whether the programs are there; without curl or one of these the test is skipped.
fn has(peers: &[TestDependency]) -> bool {
    test_peers::all_present(&[peers, &[CURL_HTTP2]].concat()).unwrap()
}

#[test]
fn getting_started_works_as_printed() {
    if !has(&[]) {
        return;
    }
    let page = page("getting-started.md");
    let (sh, yaml) = (blocks(&page, "sh"), blocks(&page, "yaml"));
    let mut run = PageRun::new(&[8080, 3000, 9901]);
    assert!(sh[0].contains("make run") && sh[1].starts_with("alias eddy="), "{sh:?}");
    run.write("eddy.yaml", &yaml[0]);
    assert!(run.run(&sh[2]).contains("ok: 1 listener, 1 rule, 1 cluster"));
    assert!(run.run(&sh[3]).contains("HTTP/1.1 502"));
    run.append("eddy.yaml", &yaml[1]);
    run.until_logged("configuration reloaded");
    run.run(&sh[3]);
    run.until_logged("reason=connect_failed");
    run.replace("eddy.yaml", "    routes: site\n", &format!("    routes: site\n{}", yaml[2]));
    assert!(run.run(&sh[4]).contains("GET /echo\n"));
    let said = run.run(&sh[5]);
    for part in ["site/1", "cluster app", "\"endpoints\"", "eddy_requests_total"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The first mistake that the page suggests.
    run.append("eddy.yaml", "endpont: 1\n");
    run.until_logged("configuration rejected");
    run.stop();
}

#[test]
fn the_first_go_filter_works_as_printed() {
    if !has(&[GO]) {
        return;
    }
    let page = page("first-go-filter.md");
    let (sh, go, yaml) = (blocks(&page, "sh"), blocks(&page, "go"), blocks(&page, "yaml"));
    let mut run = PageRun::new(&[8080, 8081]);
    run.run(&sh[0]);
    assert_eq!(run.run(&sh[1]).to_ascii_lowercase().matches("x-greeting: hello").count(), 2);
    run.write("filter.go", &go[0]);
    run.write("filter_test.go", &go[1]);
    run.run(&sh[2]);
    run.replace("eddy.yaml", "    config: {greeting: hello}\n", &yaml[0]);
    run.run(&sh[3]);
    assert!(sh[4].starts_with("pkill -HUP"), "{sh:?}");
    run.run(&sh[5]);
    run.stop();
    run.replace("eddy.yaml", "package: .", "library: ./filters.so");
    run.run("eddy run eddy.yaml");
    run.run(&sh[3]);
    run.stop();
}

#[test]
fn native_filters_work_as_printed() {
    if !has(&[]) {
        return;
    }
    let page = page("native-filters.md");
    let (sh, yaml) = (blocks(&page, "sh"), blocks(&page, "yaml"));
    let mut run = PageRun::new(&[8080, 9001]);
    run.link_tree();
    run.run(&sh[0]);
    run.write("Cargo.toml", &blocks(&page, "toml")[0]);
    run.write("src/lib.rs", &blocks(&page, "rust")[0]);
    assert!(run.run("cargo test").contains("only_those_with_the_key_pass ... ok"));
    run.run(&sh[1]);
    run.write("eddy.yaml", &yaml[0]);
    run.run(&sh[2]);
    run.run(&sh[3]);
    run.stop();
    // The same in C.
    run.write("keyed.c", &blocks(&page, "c")[0]);
    run.run(&sh[4]);
    run.write("eddy.yaml", &yaml[1]);
    run.run(&sh[5]);
    run.run(&sh[6]);
    run.stop();
}

#[test]
fn lua_filters_work_as_printed() {
    if !has(&[]) {
        return;
    }
    let page = page("lua-filters.md");
    let (sh, lua, yaml) = (blocks(&page, "sh"), blocks(&page, "lua"), blocks(&page, "yaml"));
    let mut run = PageRun::new(&[8080, 8081]);
    assert!(run.run(&sh[0]).contains("specs: filter_spec.lua\n"));
    run.run(&sh[1]);
    run.write("filter.lua", &lua[0]);
    run.write("filter_spec.lua", &lua[1]);
    assert!(run.run(&sh[2]).contains("3 passed, 0 failed"));
    run.replace("eddy.yaml", "    config: {greeting: hello}\n", &yaml[0]);
    assert!(run.run(&sh[3]).contains("x-user: alice"));
    run.stop();
}

#[test]
fn wasm_filters_work_as_printed() {
    if !has(&[RUST_WASM]) {
        return;
    }
    let page = page("wasm-filters.md");
    let (sh, yaml) = (blocks(&page, "sh"), blocks(&page, "yaml"));
    let mut run = PageRun::new(&[8080, 8081]);
    assert!(run.run(&sh[0]).contains("2 passed, 0 failed"));
    run.run(&sh[1]);
    let written = run.run("cat eddy.yaml");
    assert!(written.contains(&yaml[0]), "{written}");
    run.stop();
}

#[test]
fn go_filters_as_wasm_work_as_printed() {
    if !has(&[GO]) {
        return;
    }
    let page = page("go-filters-as-wasm.md");
    let sh = blocks(&page, "sh");
    let mut run = PageRun::new(&[8080, 8081]);
    run.run(&sh[0]);
    run.run(&sh[1]);
    // The module of a configuration, which takes the place of the first.
    run.replace("eddy.yaml", "wasm: {module: ./hello.wasm}", "go: {filter: hello, package: .}");
    run.run(&sh[2]);
    run.replace("eddy.yaml", "go: {filter: hello, package: .}", "wasm: {module: ./filters.wasm}");
    run.run("eddy run eddy.yaml");
    run.run(&sh[1]);
    run.stop();
}

/// Creates a project, and runs the commands of its README.
fn readme_works(lang: &str, peers: &[TestDependency]) {
    let mut run = PageRun::new(&[8080, 8081]);
    let created = run.run(&format!("eddy filter new --lang {lang} my-hello\ncd my-hello"));
    assert!(created.contains("cd my-hello\n"), "{created}");
    if !has(peers) {
        return;
    }
    let readme = run.run("cat README.md");
    for block in blocks(&readme, "sh") {
        run.run(&block);
    }
    assert_eq!(readme.matches("# in another terminal: 200, with x-greeting\n").count(), 1, "{readme}");
    let both = run.run("curl -i http://127.0.0.1:8080/echo # 200");
    assert_eq!(both.to_ascii_lowercase().matches("x-greeting: hello").count(), 2, "{both}");
    run.run("eddy filter test");
    run.stop();
    // What `eddy filter new` has printed is the same.
    let printed = created.lines().filter_map(|line| line.strip_prefix("  "));
    let printed: Vec<&str> = printed.skip(1).filter(|line| !line.starts_with("curl")).collect();
    for command in printed {
        assert!(readme.contains(&format!("\n{command}")), "{command}: {readme}");
    }
}

#[test]
fn a_c_project_works_as_its_readme_says() {
    readme_works("c", &[]);
}

#[test]
fn a_go_project_works_as_its_readme_says() {
    readme_works("go", &[GO]);
}

#[test]
fn a_lua_project_works_as_its_readme_says() {
    readme_works("lua", &[]);
}

#[test]
fn a_rust_project_works_as_its_readme_says() {
    readme_works("rust", &[]);
}

#[test]
fn a_wasm_project_in_c_works_as_its_readme_says() {
    readme_works("wasm-c", &[CLANG_WASM]);
}

#[test]
fn a_wasm_project_in_go_works_as_its_readme_says() {
    readme_works("wasm-go", &[GO]);
}

#[test]
fn a_wasm_project_in_rust_works_as_its_readme_says() {
    readme_works("wasm-rust", &[RUST_WASM]);
}

#[test]
fn a_library_that_is_not_built_is_reported_with_its_command() {
    let place = ProjectFolder::new();
    for (lang, command) in [
        ("c", "make -C c"),
        ("wasm-c", "make -C wasm-c"),
        ("rust", "cargo build --manifest-path rust/Cargo.toml"),
        ("wasm-rust", "cargo build --release --target wasm32-wasip1 --manifest-path wasm-rust/Cargo.toml"),
        (
            "wasm-go",
            "cd wasm-go && GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o it.wasm ./module",
        ),
    ] {
        place.eddy(&["filter", "new", "--lang", lang, "--dir", lang, "it"], ".").all(0);
        let said = place.eddy(&["check", &format!("{lang}/eddy.yaml")], ".").all(1);
        assert!(said.contains(&format!("= hint: build it: `{command}`")), "{lang}: {said}");
        assert!(said.contains("No such file"), "{said}");
    }
    // The spec of a project that is not built says the same.
    let said = place.eddy(&["filter", "test"], "c").all(1);
    assert!(said.contains("BROKEN  filter_spec.lua") && said.contains("build it: `make`"), "{said}");
    place.write("go/go.mod", "module it\n");
    place.write(
        "go/eddy.yaml",
        "listeners: [{address: '127.0.0.1:0', demo: true}]\nfilters: {it: {go: {filter: it, library: ./filters.so}}}\n",
    );
    let said = place.eddy(&["check", "eddy.yaml"], "go").all(1);
    let hint =
        "build it: `eddy filter build CONFIG --output ./filters.so`, with a CONFIG that has `package: .`";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn specs_come_before_the_tests_of_a_module() {
    let place = ProjectFolder::new();
    place.eddy(&["filter", "new", "--lang", "lua", "it"], ".").all(0);
    // A module around the folder has nothing to do with the script.
    place.write("go.mod", "module example.com/around\n\ngo 1.24\n");
    let said = place.eddy(&["filter", "test", "it"], ".").all(0);
    assert!(said.starts_with("specs: filter_spec.lua\nok ") && said.contains("2 passed, 0 failed"), "{said}");
    // One in the folder itself may have other tests.
    place.write("it/go.mod", "module example.com/it\n\ngo 1.24\n");
    let said = place.eddy(&["filter", "test"], "it").all(0);
    assert!(
        said.starts_with("specs: filter_spec.lua; for the other tests, run `go test ./...`\nok "),
        "{said}"
    );
}
