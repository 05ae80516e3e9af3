//! Test cases, read from their files.

use std::fs;
use std::path::PathBuf;

use proxy_wasm_host::abi::{AbiVersion, FUNCTIONS, Number};

/// Test case: a module, the steps performed with it, and the expected journal.
pub(crate) struct ProxyWasmCase {
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) covers: Vec<String>,
    pub(crate) versions: Vec<AbiVersion>,
    pub(crate) steps: Vec<String>,
    pub(crate) journal: Vec<String>,
    path: PathBuf,
    /// File content without the journal.
    text: String,
}

impl ProxyWasmCase {
    /// Reads all cases, sorted by name.
    pub(crate) fn all() -> Vec<Self> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/cases");
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "there are no cases in {folder}");
        paths.into_iter().map(Self::read).collect()
    }

    fn read(path: PathBuf) -> Self {
        let file = fs::read_to_string(&path).unwrap();
        let (journal, text): (Vec<&str>, Vec<&str>) = file.lines().partition(|line| line.starts_with(MARK));
        let head = |name: &str| text.iter().find_map(|line| line.strip_prefix(&format!(";; {name}: ")));
        let list = |name: &str| split(head(name).unwrap_or_default());
        let versions = list("abi");
        let is_for = |version: &AbiVersion| versions.is_empty() || versions.contains(&version.to_string());
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            what: text.first().unwrap().trim_start_matches(";; ").to_owned(),
            covers: list("covers"),
            versions: AbiVersion::ALL.into_iter().filter(is_for).collect(),
            steps: list("do"),
            journal: journal.into_iter().map(|line| line.trim_start_matches(MARK).to_owned()).collect(),
            text: text.join("\n"),
            path,
        }
    }

    /// Assembles the complete module.
    pub(crate) fn module(&self, version: AbiVersion) -> Vec<u8> {
        let marker = version.marker();
        let prelude = include_str!("prelude.wat");
        // A case may bring an allocator of its own.
        let prelude = if self.text.contains("(export \"malloc\")") {
            prelude.replace("(export \"proxy_on_memory_allocate\")", "")
        } else {
            prelude.to_owned()
        };
        let text =
            format!("(module {} {prelude} (func (export \"{marker}\")) {}\n)", self.imports(), self.text);
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Imports of the functions that the module calls, each under its own name.
    fn imports(&self) -> String {
        let is_called = |name: &str| name == "proxy_log" || self.text.contains(&format!("call ${name}"));
        let imports = FUNCTIONS.iter().filter(|function| is_called(function.name)).map(|function| {
            let params: Vec<&str> = function.params.iter().map(|number| type_of(*number)).collect();
            let result = if function.has_result { "(result i32)" } else { "" };
            let (module, name) = (function.family.modules()[0], function.name);
            format!("(import \"{module}\" \"{name}\" (func ${name} (param {}) {result}))", params.join(" "))
        });
        imports.collect()
    }

    /// Writes a new journal to the file.
    pub(crate) fn write(&self, journal: &[String]) {
        let lines: Vec<String> =
            journal.iter().map(|line| format!("{MARK}{line}").trim_end().to_owned()).collect();
        fs::write(&self.path, format!("{}\n{}\n", self.text, lines.join("\n"))).unwrap();
    }
}

fn split(list: &str) -> Vec<String> {
    list.split(", ").filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn type_of(number: Number) -> &'static str {
    match number {
        Number::I32 => "i32",
        Number::I64 => "i64",
    }
}

const MARK: &str = ";;> ";
