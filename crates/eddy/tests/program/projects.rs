//! The user's own filters: from `eddy filter new` to a gateway that runs them, and the messages for mistakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Directory, EddyProcess, Launch, binary, command_to_end, get, get_with};

/// Timeout of a compiler, which may have to compile its standard library first.
const BUILD_TIME_MAX: Duration = Duration::from_secs(300);

/// Whether there is a Go command; without it the test is skipped.
pub(crate) fn has_go() -> bool {
    test_peers::all_present(&[test_peers::GO]).unwrap()
}

/// Folder with its own cache.
pub(crate) struct ProjectFolder {
    pub(crate) directory: Directory,
}

pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    output: String,
    pub(crate) errors: String,
}

impl ProjectFolder {
    pub(crate) fn new() -> Self {
        Self { directory: Directory::new() }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str], folder: &str) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory.join(folder));
        command.env("EDDY_CACHE_DIR", self.cache()).env("GOPROXY", "off").env_remove("GOFLAGS");
        command
    }

    fn cache(&self) -> PathBuf {
        self.directory.join("cache")
    }

    pub(crate) fn eddy(&self, arguments: &[&str], folder: &str) -> CommandOutput {
        CommandOutput::of(self.command(binary(), arguments, folder))
    }

    pub(crate) fn eddy_with(
        &self,
        arguments: &[&str],
        folder: &str,
        variables: &[(&str, &Path)],
    ) -> CommandOutput {
        let mut command = self.command(binary(), arguments, folder);
        command.envs(variables.iter().copied());
        CommandOutput::of(command)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn replace(&self, path: &str, before: &str, after: &str) {
        let text = fs::read_to_string(self.directory.join(path)).unwrap();
        assert!(text.contains(before), "{text}");
        self.write(path, &text.replace(before, after));
    }

    pub(crate) fn launch(&self, config: &str) -> EddyProcess {
        let environment = [("EDDY_CACHE_DIR", self.cache()), ("GOPROXY", "off".into())];
        let environment = environment.map(|(name, value)| (name.into(), value.into_os_string())).into();
        EddyProcess::launch(config, Launch { environment, ..Launch::default() })
    }

    /// Returns a configuration that responds locally, with the filter of a project.
    fn config(&self, name: &str, settings: &str) -> String {
        let package = self.directory.join(name).display().to_string();
        format!(
            "\
workers: 1
drain_timeout: 1s
filters:
  it:
    go: {{filter: {name}, package: '{package}'}}
    config: {settings}
listeners:
  - {{address: '127.0.0.1:0', routes: site, filters: [it]}}
routes:
  site:
    - {{match: {{path: {{prefix: /}}}}, respond: {{status: 200, body: ok}}}}
"
        )
    }
}

impl CommandOutput {
    fn of(command: Command) -> Self {
        let output = command_to_end(command, BUILD_TIME_MAX);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), output: text(&output.stdout), errors: text(&output.stderr) }
    }

    /// Checks the exit code and returns all output.
    pub(crate) fn all(&self, code: i32) -> String {
        let all = format!("{}{}", self.output, self.errors);
        assert_eq!(self.code, Some(code), "{all}");
        all
    }

    pub(crate) fn json(&self, code: i32) -> Value {
        let all = self.all(code);
        serde_json::from_str(&self.output).unwrap_or_else(|error| panic!("{error}: {all}"))
    }
}

#[test]
fn a_go_project_is_created_tested_built_checked_and_run() {
    let place = ProjectFolder::new();
    assert!(place.eddy(&["filter", "new", "--lang", "go", "my-hello"], ".").all(0).contains("cd my-hello"));
    if !has_go() {
        return;
    }
    CommandOutput::of(place.command("go", &["test", "./..."], "my-hello")).all(0);
    CommandOutput::of(place.command("go", &["vet", "./..."], "my-hello")).all(0);
    assert_eq!(CommandOutput::of(place.command("gofmt", &["-l", "."], "my-hello")).all(0), "");
    assert!(
        place
            .eddy(&["filter", "test", "my-hello", "--", "-v"], ".")
            .all(0)
            .contains("--- PASS: TestRequestsAreGreeted")
    );
    // A copy of the repository has no go.work.
    fs::remove_file(place.directory.join("my-hello/go.work")).unwrap();
    place.eddy(&["filter", "test"], "my-hello").all(0);

    let built = place.eddy(&["filter", "build", "eddy.yaml", "--json"], "my-hello").json(0);
    assert_eq!(
        (&built["is_fresh"], &built["packages"][0]),
        (&true.into(), &"example.com/my-hello".into()),
        "{built}"
    );
    // Nothing is compiled again, whatever else changes in the folder.
    place.write("my-hello/notes.txt", "x");
    let begun = Instant::now();
    let again = place.eddy(&["filter", "build", "eddy.yaml", "--json"], "my-hello").json(0);
    println!("again after {:?}", begun.elapsed());
    assert_eq!((&again["is_fresh"], &again["library"]), (&false.into(), &built["library"]), "{again}");
    assert!(place.eddy(&["check", "eddy.yaml"], "my-hello").all(0).contains("ok: 2 listeners"));

    let mut eddy = place.launch(&place.config("my-hello", "{greeting: one}"));
    assert!(get(eddy.address(), "/fixed").text.contains("x-greeting: one\r\n"));
    // The same code needs no new process, whatever else changes in the configuration.
    let process = eddy.gateway();
    eddy.write_config(&place.config("my-hello", "{greeting: two}"));
    eddy.record("configuration reloaded");
    assert!(get(eddy.address(), "/fixed").text.contains("x-greeting: two\r\n"));
    assert_eq!(eddy.gateway(), process);
    eddy.write_config(&place.config("my-hello", "{greeting: one}"));
    eddy.record("configuration reloaded");
    // Broken code changes nothing, even when the process dies.
    place.replace("my-hello/filter.go", "f.config.Greeting)", "f.config.Greting)");
    eddy.signal(Signal::HUP);
    let wrong = eddy.record_where("a place in the code", |record| record["line"] == 23);
    assert!(wrong["path"].as_str().unwrap().ends_with("my-hello/filter.go"), "{wrong}");
    assert!(wrong["message"].as_str().unwrap().contains("Greting undefined"), "{wrong}");
    eddy.record("configuration rejected; the last good one stays in force");
    let replaced = |eddy: &mut EddyProcess| {
        eddy.kill_gateway();
        eddy.record("gateway process ended unexpectedly; another one replaces it");
        eddy.record("ready");
        assert!(get(eddy.address(), "/fixed").text.contains("x-greeting: one\r\n"));
    };
    replaced(&mut eddy);
    // Changed code is loaded by a new process, and only on request.
    place.replace("my-hello/filter.go", "f.config.Greting)", "f.config.Greeting+\"!\")");
    replaced(&mut eddy);
    eddy.signal(Signal::HUP);
    renewed(&mut eddy);
    assert!(get(eddy.address(), "/fixed").text.contains("x-greeting: one!\r\n"));
    eddy.stop();
}

/// Waits until a new process serves and the previous one, which may still accept a connection, has ended.
fn renewed(eddy: &mut EddyProcess) {
    eddy.records(&[
        "filter libraries renewed; the previous process drains",
        "gateway process has drained and ended",
    ]);
}

/// Returns the code blocks of a page in a language, in order.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_guide_to_a_first_filter_works_as_written() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/first-go-filter.md");
    let page = fs::read_to_string(page).unwrap();
    let (go, yaml, sh) = (blocks(&page, "go"), blocks(&page, "yaml"), blocks(&page, "sh"));
    let place = ProjectFolder::new();
    assert!(
        sh[0].starts_with("eddy filter new --lang go auth\ncd auth\ngo test ./...\neddy run eddy.yaml\n")
    );
    place.eddy(&["filter", "new", "--lang", "go", "auth"], ".").all(0);
    if !has_go() {
        return;
    }
    // The first build takes longer than the timeout of a start.
    place.eddy(&["filter", "build", "eddy.yaml"], "auth").all(0);
    let mut eddy = place.launch(&place.config("auth", "{greeting: hello}"));
    assert!(get(eddy.address(), "/").text.contains("x-greeting: hello\r\n"));
    place.write("auth/filter.go", &go[0]);
    place.write("auth/filter_test.go", &go[1]);
    assert_eq!(CommandOutput::of(place.command("gofmt", &["-l", "."], "auth")).all(0), "");
    CommandOutput::of(place.command("go", &["test", "./..."], "auth")).all(0);
    place.replace("auth/eddy.yaml", "    config: {greeting: hello}\n", &yaml[0]);
    assert!(place.eddy(&["check", "eddy.yaml"], "auth").all(0).contains("ok: 2 listeners"));

    eddy.write_config(&place.config("auth", yaml[0].trim().strip_prefix("config: ").unwrap()));
    renewed(&mut eddy);
    assert_eq!(get(eddy.address(), "/").status, 401);
    let known = get_with(eddy.address(), "Authorization: Basic amFuZTpzZWNyZXQ=");
    assert_eq!(known.status, 200, "{}", known.text);
    assert_eq!(get_with(eddy.address(), "Authorization: Basic amFuZTp3cm9uZw==").status, 401);
    eddy.stop();

    place.replace("auth/eddy.yaml", "password:", "pasword:");
    let said = place.eddy(&["check", "eddy.yaml"], "auth").all(1);
    assert!(said.contains("pasword") && said.contains("password, username"), "{said}");
    place.replace("auth/eddy.yaml", "pasword:", "password:");
    place.eddy(&["filter", "build", "eddy.yaml", "--output", "filters.so"], "auth").all(0);
    place.replace("auth/eddy.yaml", "package: .", "library: ./filters.so");
    place.eddy(&["check", "eddy.yaml"], "auth").all(0);
    place.replace("auth/filter.go", "x.Reply", "x.Replay");
    place.replace("auth/eddy.yaml", "library: ./filters.so", "package: .");
    let said = place.eddy(&["check", "eddy.yaml"], "auth").all(1);
    assert!(said.contains("x.Replay undefined") && said.contains("--> filter.go:29:12"), "{said}");
}

#[test]
fn a_rust_project_is_created_tested_built_and_checked() {
    let place = ProjectFolder::new();
    place.eddy(&["filter", "new", "--lang", "rust", "--dir", "filters/it", "my-hello"], ".").all(0);
    let cargo = |arguments: &[&str]| {
        let mut command = place.command(env!("CARGO"), arguments, "filters/it");
        // The dependencies of the workspace have been fetched, or this test would not run.
        command.env("CARGO_NET_OFFLINE", "true").env_remove("CARGO_TARGET_DIR");
        CommandOutput::of(command)
    };
    cargo(&["build"]).all(0);
    assert!(place.eddy(&["check", "filters/it/eddy.yaml"], ".").all(0).contains("ok: 2 listeners"));
    let mut command = place.command(binary(), &["filter", "test", "filters/it"], ".");
    command.env("CARGO_NET_OFFLINE", "true").env_remove("CARGO_TARGET_DIR");
    assert!(CommandOutput::of(command).all(0).contains("requests_are_greeted ... ok"));
}

#[test]
fn nothing_is_overwritten_and_names_are_checked() {
    let place = ProjectFolder::new();
    place.write("taken/mine.txt", "mine");
    assert!(place.eddy(&["filter", "new", "--lang", "go", "taken"], ".").all(1).contains("is not empty"));
    assert_eq!(fs::read_dir(place.directory.join("taken")).unwrap().count(), 1);
    assert!(place.eddy(&["filter", "new", "--lang", "go", "A/b"], ".").all(1).contains("lower-case letters"));
    place.eddy(&["filter", "new", "--lang", "cobol", "a"], ".").all(2);
    place.eddy(&["filter", "new", "a"], ".").all(2);
    place.eddy(&["filter"], ".").all(2);
    assert!(
        place
            .eddy(&["filter", "test", "taken"], ".")
            .all(1)
            .contains("no go.mod, no Cargo.toml and no *_spec.lua")
    );
    // A failing test is a failure of the command.
    if has_go() {
        place.eddy(&["filter", "new", "--lang", "go", "wrong"], ".").all(0);
        place.replace("wrong/filter_test.go", "got != \"hello\"", "got != \"bye\"");
        assert!(place.eddy(&["filter", "test", "wrong"], ".").all(1).contains("--- FAIL"));
    }
}

/// A module with one filter, as a user may write it by hand.
#[test]
fn a_wasm_module_is_built_beside_the_library() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    filter_module(&place, "one", "example.com/one", &CODE.replace("NAME", "one"));
    place.write("eddy.yaml", &config_of(&[("one", "one")]));
    let build = |more: &[&str]| {
        let words = [&["filter", "build", "eddy.yaml", "--json"], more].concat();
        place.eddy(&words, ".").json(0)
    };
    let module = build(&["--target", "wasm", "--output", "filters.wasm"]);
    assert_eq!((&module["is_fresh"], &module["library"]), (&true.into(), &"filters.wasm".into()), "{module}");
    let bytes = fs::read(place.directory.join("filters.wasm")).unwrap();
    assert!(bytes.starts_with(b"\0asm") && bytes.windows(10).any(|window| window == b"eddy_abi_1"));
    let library = build(&[])["library"].as_str().unwrap().to_owned();
    assert!(library.ends_with(".so") && fs::read(&library).unwrap().starts_with(b"\x7fELF"), "{library}");
    let again = build(&["--target", "wasm"]);
    assert_eq!(again["is_fresh"], false, "{again}");
    assert!(again["library"].as_str().unwrap().ends_with(".wasm"), "{again}");
}

fn filter_module(place: &ProjectFolder, folder: &str, module: &str, code: &str) {
    place.write(
        &format!("{folder}/go.mod"),
        &format!("module {module}\n\ngo 1.24\n\nrequire github.com/eddy-gateway/eddy/sdk/go v0.1.0\n"),
    );
    place.write(&format!("{folder}/filter.go"), code);
}

const CODE: &str = "\
package filter

import eddy \"github.com/eddy-gateway/eddy/sdk/go\"

type filter struct{}

func init() {
	eddy.Register(\"NAME\", func(struct{}) (eddy.Filter, error) { return filter{}, nil })
}

func (filter) RequestHead(x *eddy.Exchange) eddy.Verdict { return eddy.Continue }
";

pub(crate) fn config_of(packages: &[(&str, &str)]) -> String {
    let mut text = "listeners: [{address: '127.0.0.1:0', demo: true}]\nfilters:\n".to_owned();
    for (name, folder) in packages {
        text.push_str(&format!("  {name}:\n    go: {{filter: {name}, package: '{folder}'}}\n"));
    }
    text
}

#[test]
fn packages_of_several_modules_and_of_envoy_become_one_library() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    filter_module(&place, "one", "example.com/one", &CODE.replace("NAME", "one"));
    filter_module(&place, "sub dir/two", "two", &CODE.replace("NAME", "two"));
    place.write("lib/go.mod", "module example.com/lib\n\ngo 1.24\n");
    place.write("lib/lib.go", "package lib\n\nconst Answer = 42\n");
    let with_library =
        CODE.replace("NAME", "three").replace("type filter", "const _ = lib.Answer\n\ntype filter");
    let with_library = with_library.replace("import eddy", "import \"example.com/lib\"\nimport eddy");
    filter_module(&place, "three", "example.com/three", &with_library);
    let manifest = fs::read_to_string(place.directory.join("three/go.mod")).unwrap();
    place.write(
        "three/go.mod",
        &format!("{manifest}\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n"),
    );
    place.write(
        "three/filter_test.go",
        "package filter\n\nimport (\n\t\"testing\"\n\n\t\"example.com/lib\"\n\t\"github.com/eddy-gateway/eddy/sdk/go/eddytest\"\n)\n\nfunc TestIt(t *testing.T) {\n\tif eddytest.New(t, \"three\", nil); lib.Answer != 42 {\n\t\tt.Error(lib.Answer)\n\t}\n}\n",
    );
    assert!(place.eddy(&["filter", "test", "three", "--", "-v"], ".").all(0).contains("--- PASS: TestIt"));
    // The project's own files are unchanged.
    assert!(!fs::read_to_string(place.directory.join("three/go.mod")).unwrap().contains("kits"));
    let envoy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/filters/go-envoy/passthrough");
    let envoy = envoy.display().to_string();
    let packages = [("one", "one"), ("two", "sub dir/two"), ("three", "three"), ("passthrough", &*envoy)];
    place.write("eddy.yaml", &config_of(&packages));
    let checked = place.eddy(&["check", "eddy.yaml"], ".");
    if checked.code != Some(0) && checked.errors.contains("Go must fetch a module") {
        let missing = "the modules that filters for Envoy depend on are not in Go's cache";
        return test_peers::skip(missing, "(cd sdk/go-envoy && go mod download)").unwrap();
    }
    checked.all(0);
    // Dependencies of a package count as well.
    let built = place.eddy(&["filter", "build", "eddy.yaml", "--json"], ".").json(0);
    assert_eq!(
        (&built["is_fresh"], built["packages"].as_array().unwrap().len()),
        (&false.into(), 4),
        "{built}"
    );
    place.write("lib/lib.go", "package lib\n\nconst Answer = 43\n");
    let built = place.eddy(&["filter", "build", "eddy.yaml", "--json"], ".").json(0);
    assert_eq!(built["is_fresh"], true, "{built}");
}

/// A framework that registers a filter on behalf of each package that calls it.
const FRAMEWORK: &str = "\
package frame

import eddy \"github.com/eddy-gateway/eddy/sdk/go\"

type filter struct{ mark string }

func Register(mark string) {
	eddy.Register(\"marked\", func(struct{}) (eddy.Filter, error) { return filter{mark}, nil })
}

func (f filter) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	x.Response().AddByName(\"x-mark\", f.mark)
	return eddy.Continue
}
";

#[test]
fn packages_that_register_one_name_by_a_framework_run_their_own() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    filter_module(&place, "frame", "example.com/frame", FRAMEWORK);
    for (folder, register) in
        [("one", "frame.Register(\"one\")"), ("two", "frame.Register(\"two\")"), ("three", "")]
    {
        let code = format!(
            "package filter\n\nimport \"example.com/frame\"\n\nvar _ = frame.Register\n\nfunc init() {{ {register} }}\n"
        );
        filter_module(&place, folder, &format!("example.com/{folder}"), &code);
        let manifest = fs::read_to_string(place.directory.join(folder).join("go.mod")).unwrap();
        let frame = "\nrequire example.com/frame v0.0.0\n\nreplace example.com/frame => ../frame\n";
        place.write(&format!("{folder}/go.mod"), &format!("{manifest}{frame}"));
    }
    let source = |folder: &str| {
        format!("{{go: {{filter: marked, package: '{}'}}}}", place.directory.join(folder).display())
    };
    let config = format!(
        "workers: 1\ndrain_timeout: 1s\nfilters:\n  a: {}\n  b: {}\nlisteners:\n  - {{address: '127.0.0.1:0', demo: true, filters: [a, b]}}\n",
        source("one"),
        source("two")
    );
    let eddy = place.launch(&config);
    let text = get(eddy.address(), "/").text;
    // Responses pass through the chain in reverse order.
    let marks: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("x-mark: ")).collect();
    assert_eq!(marks, ["two", "one"], "{text}");
    eddy.stop();
    // A filter of that name from another package is not used.
    place.write("three.yaml", &config.replace(&source("two"), &source("three")));
    let said = place.eddy(&["check", "three.yaml"], ".").all(1);
    assert!(said.contains("the package \"example.com/three\" registers no filter \"marked\""), "{said}");
    assert!(said.contains("of that name is in \"example.com/one\""), "{said}");
    // The name of a library does not determine the package.
    place.write("both.yaml", &config);
    place.eddy(&["filter", "build", "both.yaml", "--output", "both.so"], ".").all(0);
    let library = "{go: {filter: marked, library: ./both.so}}";
    place.write("library.yaml", &config.replace(&source("one"), library).replace(&source("two"), library));
    let said = place.eddy(&["check", "library.yaml"], ".").all(1);
    let both = "\"example.com/one:marked\" \"example.com/two:marked\"";
    assert!(said.contains("registered by more than one package") && said.contains(both), "{said}");
    let named = "{go: {filter: 'example.com/two:marked', library: ./both.so}}";
    place.write("named.yaml", &config.replace(&source("one"), named).replace(&source("two"), named));
    place.eddy(&["check", "named.yaml"], ".").all(0);
}

#[test]
fn a_library_is_checked_against_the_record_beside_it() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    filter_module(&place, "one", "example.com/one", &CODE.replace("NAME", "one"));
    place.write("eddy.yaml", &config_of(&[("one", "one")]));
    let said = place.eddy(&["filter", "build", "eddy.yaml", "--output", "filters.so"], ".").all(0);
    assert!(said.starts_with("filters.so\n1 package, go1."), "{said}");
    place.write(
        "there.yaml",
        &config_of(&[("one", "one")]).replace("package: 'one'", "library: ./filters.so"),
    );
    place.eddy(&["check", "there.yaml"], ".").all(0);
    place.replace("filters.so.json", "\"abi\": 1", "\"abi\": 9");
    let said = place.eddy(&["check", "there.yaml"], ".").all(1);
    assert!(said.contains("for version 9 of the filter ABI") && said.contains("there.yaml:3:3"), "{said}");
    place.replace("filters.so.json", "\"abi\": 9", "\"abi\": 1");
    fs::OpenOptions::new()
        .write(true)
        .open(place.directory.join("filters.so"))
        .unwrap()
        .set_len(1000)
        .unwrap();
    assert!(place.eddy(&["check", "there.yaml"], ".").all(1).contains("it has 1000 bytes, but its manifest"));
    // A truncated library in the cache is built again.
    let built = place.eddy(&["filter", "build", "eddy.yaml", "--json"], ".").json(0);
    let library = fs::OpenOptions::new().write(true).open(built["library"].as_str().unwrap()).unwrap();
    library.set_len(1000).unwrap();
    let built = place.eddy(&["filter", "build", "eddy.yaml", "--json"], ".").json(0);
    assert_eq!(built["is_fresh"], true, "{built}");
}

#[test]
fn build_errors_are_reported_with_their_position() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    let check = |code: &str, expected: &[&str]| {
        filter_module(&place, "one", "example.com/one", code);
        place.write("eddy.yaml", &config_of(&[("one", "one")]));
        let said = place.eddy(&["filter", "build", "eddy.yaml"], ".").all(1);
        for expected in expected {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    };
    check(
        &CODE.replace("eddy.Continue", "eddy.Proceed"),
        &["undefined: eddy.Proceed", "--> one/filter.go:11:72", "--> eddy.yaml:3:3"],
    );
    check(&CODE.replace("type filter", "typ filter"), &["syntax error", "--> one/filter.go:5:1"]);
    check(
        &CODE.replace("import eddy", "import _ \"example.com/nobody\"\nimport eddy"),
        &["--> one/filter.go:3:8", "go mod tidy"],
    );
    place.write("one/go.mod", "modul example.com/one\n");
    place.write("eddy.yaml", &config_of(&[("one", "one")]));
    let json = place.eddy(&["filter", "build", "eddy.yaml", "--json"], ".").json(1);
    assert_eq!(
        (&json["problems"][0]["path"], &json["problems"][0]["line"]),
        (&"one/go.mod".into(), &1.into()),
        "{json}"
    );
    // Filters for Envoy are compiled from generated copies.
    let envoy = "package main\n\nimport _ \"github.com/envoyproxy/envoy/contrib/golang/common/go/api\"\n\nfunc main() {}\n\nvar _ = nothing\n";
    filter_module(&place, "one", "example.com/one", envoy);
    place.write(
        "one/go.mod",
        "module example.com/one\n\ngo 1.24\n\nrequire github.com/envoyproxy/envoy v1.31.0\n",
    );
    let said = place.eddy(&["filter", "build", "eddy.yaml"], ".").all(1);
    // With the dependencies of the SDK, the error in the filter is reported; without them, how to get them.
    let is_missing = said.contains("Go must fetch a module") || said.contains("with network access");
    assert!(said.contains("one/filter.go:7:9") || is_missing, "{said}");
}

#[test]
fn missing_tools_are_reported_with_a_hint() {
    let place = ProjectFolder::new();
    filter_module(&place, "one", "example.com/one", &CODE.replace("NAME", "one"));
    place.write("eddy.yaml", &config_of(&[("one", "one")]));
    place.write("nothing.yaml", &config_of(&[]).replace("filters:\n", ""));
    assert!(place.eddy(&["filter", "build", "nothing.yaml"], ".").all(1).contains("is a Go package"));
    fs::create_dir(place.directory.join("none")).unwrap();
    place.write("empty.yaml", &config_of(&[("one", "none")]));
    assert!(place.eddy(&["filter", "build", "empty.yaml"], ".").all(1).contains("has no Go files"));
    place.write("gone.yaml", &config_of(&[("one", "gone")]));
    assert!(place.eddy(&["filter", "build", "gone.yaml"], ".").all(1).contains("cannot be read"));
    place.write("alone/filter.go", CODE);
    place.write("alone.yaml", &config_of(&[("one", "alone")]));
    assert!(place.eddy(&["filter", "build", "alone.yaml"], ".").all(1).contains("go mod init"));

    // Programs named go that are not a usable Go command.
    let fake = |name: &str, script: &str| {
        place.write(&format!("{name}/script"), &format!("#!/bin/sh\n{script}\n"));
        let path = place.directory.join(name);
        // Installed by another process, so that no test that forks meanwhile inherits the file open for writing.
        let mut install = Command::new("install");
        install.args(["-m", "755"]).args([path.join("script"), path.join("go")]);
        assert!(install.status().unwrap().success());
        path
    };
    for (path, expected) in [
        (place.directory.join("none"), "not in PATH"),
        (
            fake("old", "echo '{\"GOVERSION\": \"go1.19.3\"}'"),
            "too old; filters need Go 1.24 or later: found go1.19.3",
        ),
        (
            fake(
                "local",
                "echo 'go: go.mod requires go >= 1.24 (running go 1.22.1; GOTOOLCHAIN=local)' >&2; exit 1",
            ),
            "too old; filters need Go 1.24",
        ),
        (
            fake("broken", "echo 'go: cannot find GOROOT' >&2; exit 2"),
            "the command `go` fails: go: cannot find GOROOT",
        ),
    ] {
        for command in [&["filter", "build", "eddy.yaml"][..], &["check", "eddy.yaml"]] {
            let said = place.eddy_with(command, ".", &[("PATH", &path)]).all(1);
            assert!(said.contains(expected) && said.contains("eddy.yaml:3:3"), "{path:?}: {said}");
        }
    }
    if has_go() {
        // A new cache, because a cached library needs no compiler.
        let variables =
            [("CC", Path::new("no-such-compiler")), ("EDDY_CACHE_DIR", &*place.directory.join("fresh"))];
        let said = place.eddy_with(&["filter", "build", "eddy.yaml"], ".", &variables).all(1);
        assert!(said.contains("no-such-compiler") && said.contains("C compiler"), "{said}");
    }
}
