//! Advice for a library or module that does not exist: how to build it, judged by the sources beside it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Kind of a file that filters are loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterFileKind {
    /// Shared library, `native: {library: ...}`.
    Native,
    /// Library of Go filters, `go: {library: ...}`.
    Go,
    /// Wasm module, `wasm: {module: ...}`.
    Wasm,
}

/// Returns the command that builds a file which does not exist; `None` when it exists.
pub(crate) fn build_hint(path: &Path, kind: FilterFileKind) -> Option<String> {
    if fs::symlink_metadata(path).is_ok() {
        return None;
    }
    // The command is to be run here.
    let here = std::env::current_dir().ok();
    let path = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let mut folders = path.ancestors().skip(1).take(FOLDERS_MAX).map(in_words).enumerate();
    let command = folders.find_map(|(above, folder)| {
        module_command(&folder, path, kind).or_else(|| {
            let is_near = above < C_FOLDERS_MAX;
            if is_near { c_command(&folder, path, kind) } else { None }
        })
    });
    Some(match command {
        Some(command) => format!("build it: {command}"),
        None => {
            let tried = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            format!("build it, or correct the path: it tried `{}`", tried.display())
        }
    })
}

/// Returns the command that builds `path` from the Rust or Go module in `folder`, if there is one.
fn module_command(folder: &Path, path: &Path, kind: FilterFileKind) -> Option<String> {
    if folder.join("Cargo.toml").is_file() {
        return Some(format!("`{}`", cargo(folder, path)));
    }
    if !folder.join("go.mod").is_file() {
        return None;
    }
    let there = shell(folder);
    Some(match kind {
        FilterFileKind::Wasm => {
            let package = if folder.join("module/main.go").is_file() { "./module" } else { "." };
            let output = shell(path.strip_prefix(folder).unwrap_or(path));
            let enter = if is_here(folder) { String::new() } else { format!("cd {there} && ") };
            format!(
                "`{enter}GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o {output} {package}`"
            )
        }
        // The library has the packages that a configuration names.
        FilterFileKind::Go | FilterFileKind::Native => format!(
            "`eddy filter build CONFIG --output {}`, with a CONFIG that has `package: {there}` in place of `library`",
            shell(path)
        ),
    })
}

/// Returns the command that builds `path` from the Makefile or the C source in `folder`, if there is one.
fn c_command(folder: &Path, path: &Path, kind: FilterFileKind) -> Option<String> {
    let (there, output) = (shell(folder), shell(path));
    if ["Makefile", "makefile"].iter().any(|name| folder.join(name).is_file()) {
        return Some(if is_here(folder) { "`make`".to_owned() } else { format!("`make -C {there}`") });
    }
    let source = shell(&c_source(folder, path)?);
    Some(match kind {
        FilterFileKind::Wasm => format!(
            "`clang --target=wasm32-unknown-unknown -O2 -nostdlib -ffreestanding -Wl,--no-entry -o {output} {source}`"
        ),
        FilterFileKind::Go | FilterFileKind::Native => {
            let headers = if folder.join("eddy_filter.h").is_file() { there.as_str() } else { "EDDY/abi" };
            format!("`cc -std=c11 -O2 -fPIC -fvisibility=hidden -shared -I {headers} -o {output} {source}`")
        }
    })
}

/// Returns the Cargo command whose output `path` is: its profile and target are parts of the path.
fn cargo(folder: &Path, path: &Path) -> String {
    let mut command = "cargo build".to_owned();
    let mut parts = path.strip_prefix(folder).unwrap_or(path).iter().filter_map(OsStr::to_str).rev().skip(1);
    match parts.next() {
        Some("debug" | "target") | None => {}
        Some("release") => command.push_str(" --release"),
        Some(profile) => command.push_str(&format!(" --profile {profile}")),
    }
    // A target is named like wasm32-wasip1; the folder of all output is not.
    if let Some(target) = parts.next().filter(|part| part.contains('-')) {
        command.push_str(&format!(" --target {target}"));
    }
    if !is_here(folder) {
        command.push_str(&format!(" --manifest-path {}", shell(&folder.join("Cargo.toml"))));
    }
    command
}

/// Returns the C source of a library: the file of the same name, or the only one in the folder.
fn c_source(folder: &Path, path: &Path) -> Option<PathBuf> {
    let name = path.file_stem()?.to_str()?;
    let named = folder.join(name.strip_prefix("lib").unwrap_or(name)).with_extension("c");
    if named.is_file() {
        return Some(named);
    }
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut sources = files.filter(|file| file.extension().is_some_and(|extension| extension == "c"));
    sources.next().filter(|_| sources.next().is_none())
}

/// Returns a folder as it is written in a command: `.` for the current one.
fn in_words(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
}

fn is_here(folder: &Path) -> bool {
    folder == Path::new(".")
}

/// Returns a path as a word of a shell command.
fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Number of folders above a file in which its sources are looked for: those of
/// `PROJECT/target/wasm32-wasip1/release/filter.wasm`.
const FOLDERS_MAX: usize = 4;
/// As [`FOLDERS_MAX`], for C: those of `PROJECT/build/filter.so`. C sources further up are likely to be others.
const C_FOLDERS_MAX: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    struct Sources(PathBuf);

    impl Sources {
        fn new(name: &str, files: &[&str]) -> Self {
            let folder = std::env::temp_dir().join(format!("eddy-unbuilt-{name}-{}", std::process::id()));
            for file in files {
                let file = folder.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            Self(folder)
        }

        fn hint(&self, path: &str, kind: FilterFileKind) -> String {
            let hint = build_hint(&self.0.join(path), kind).unwrap();
            hint.replace(&self.0.display().to_string(), "DIR")
        }
    }

    impl Drop for Sources {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_command_is_that_of_the_language() {
        use FilterFileKind::{Go, Native, Wasm};
        let rust = Sources::new("rust", &["Cargo.toml", "src/lib.rs"]);
        for (path, kind, command) in [
            ("target/release/liba.so", Native, "cargo build --release --manifest-path DIR/Cargo.toml"),
            ("target/debug/liba.so", Native, "cargo build --manifest-path DIR/Cargo.toml"),
            (
                "target/wasm32-wasip1/release/a.wasm",
                Wasm,
                "cargo build --release --target wasm32-wasip1 --manifest-path DIR/Cargo.toml",
            ),
            ("target/quick/liba.so", Native, "cargo build --profile quick --manifest-path DIR/Cargo.toml"),
        ] {
            assert_eq!(rust.hint(path, kind), format!("build it: `{command}`"));
        }
        let go = Sources::new("go", &["go.mod", "filter.go", "module/main.go"]);
        assert_eq!(
            go.hint("filters.so", Go),
            "build it: `eddy filter build CONFIG --output DIR/filters.so`, with a CONFIG that has `package: DIR` in place of `library`"
        );
        assert_eq!(
            go.hint("a.wasm", Wasm),
            "build it: `cd DIR && GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o a.wasm ./module`"
        );
        let made = Sources::new("make", &["Makefile", "a.c"]);
        assert_eq!(made.hint("build/liba.so", Native), "build it: `make -C DIR`");
        let c = Sources::new("c", &["a.c", "b.c"]);
        assert_eq!(
            c.hint("liba.so", Native),
            "build it: `cc -std=c11 -O2 -fPIC -fvisibility=hidden -shared -I EDDY/abi -o DIR/liba.so DIR/a.c`"
        );
        assert!(c.hint("b.wasm", Wasm).starts_with("build it: `clang --target=wasm32-unknown-unknown"));
        // Neither of two sources is named like the library.
        assert!(c.hint("libother.so", Native).starts_with("build it, or correct the path: it tried `DIR/"));
    }

    #[test]
    fn an_existing_file_needs_no_advice() {
        let c = Sources::new("built", &["a.c", "liba.so"]);
        assert_eq!(build_hint(&c.0.join("liba.so"), FilterFileKind::Native), None);
    }

    #[test]
    fn words_of_a_command_are_quoted() {
        assert_eq!(shell(Path::new("./a-b/c_1.so")), "./a-b/c_1.so");
        assert_eq!(shell(Path::new("a b/it's")), r"'a b/it'\''s'");
    }
}
