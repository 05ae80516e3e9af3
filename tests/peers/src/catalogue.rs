//! Catalogue of the peers: the feature that the tests use and the command that installs it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::peer::TestDependency;
use crate::program::{envoy, nginx_modules, program, python, testssl};

/// nginx with regular expressions, which its rewrite module needs.
pub const NGINX: TestDependency = TestDependency {
    name: "nginx",
    remedy: "apt-get install nginx (or make bench-peers)",
    probe: || nginx_lacks(&["--without-http_rewrite_module", "--without-pcre"]),
};

/// nginx of the version whose directives the guide lists.
pub const NGINX_1_22: TestDependency = TestDependency {
    name: "nginx 1.22",
    remedy: "make test on Debian 12, with nginx",
    probe: || nginx_has(&["nginx/1.22."]),
};

/// nginx with TLS for HTTP.
pub const NGINX_TLS: TestDependency = TestDependency {
    name: "nginx with its SSL module",
    remedy: "apt-get install nginx (or make bench-peers)",
    probe: || nginx_has(&["--with-http_ssl_module"]),
};

/// nginx with HTTP/2.
pub const NGINX_HTTP2: TestDependency = TestDependency {
    name: "nginx with HTTP/2",
    remedy: "apt-get install nginx (or make bench-peers)",
    probe: || nginx_has(&["--with-http_v2_module"]),
};

/// nginx as the benchmark runs it: TLS, HTTP/2, its status page and the stream module, loaded dynamically.
pub const NGINX_STREAM: TestDependency = TestDependency {
    name: "nginx with its stream module",
    remedy: "apt-get install nginx libnginx-mod-stream (or make bench-peers)",
    probe: || {
        nginx_has(&["--with-http_ssl_module", "--with-http_v2_module"])?;
        nginx_module("ngx_stream_module.so")
    },
};

/// nginx with Lua.
pub const NGINX_LUA: TestDependency = TestDependency {
    name: "nginx with its Lua module",
    remedy: "apt-get install nginx libnginx-mod-http-lua lua-resty-core (or make bench-peers)",
    probe: || {
        nginx_has(&[])?;
        nginx_module("ngx_http_lua_module.so")
    },
};

/// HAProxy with TLS.
pub const HAPROXY: TestDependency = TestDependency {
    name: "HAProxy",
    remedy: "apt-get install haproxy (or make bench-peers)",
    probe: || says("haproxy", &["-vv"], &["Built with OpenSSL"]),
};

/// HAProxy with Lua.
pub const HAPROXY_LUA: TestDependency = TestDependency {
    name: "HAProxy with Lua",
    remedy: "apt-get install haproxy (or make bench-peers)",
    probe: || says("haproxy", &["-vv"], &["Built with OpenSSL", "Built with Lua"]),
};

/// Envoy of the version that answers were recorded with.
pub const ENVOY: TestDependency = TestDependency {
    name: "Envoy",
    remedy: "make bench-peers (needs python3 with venv)",
    probe: || {
        let program = envoy().ok_or("it is not installed")?;
        output_of(Command::new(program).arg("--version")).map(|_| ())
    },
};

/// Load generator for HTTP/2.
pub const H2LOAD: TestDependency = TestDependency {
    name: "h2load",
    remedy: "apt-get install nghttp2-client (or make bench-peers)",
    probe: || says("h2load", &["--version"], &[]),
};

/// curl with HTTP/2.
pub const CURL_HTTP2: TestDependency = TestDependency {
    name: "curl with HTTP/2",
    remedy: "apt-get install curl (or make bench-peers)",
    probe: || says("curl", &["--version"], &["HTTP2"]),
};

/// strace, on a kernel that lets it attach to processes of the test.
pub const STRACE: TestDependency = TestDependency {
    name: "strace",
    remedy: "apt-get install strace (or make bench-peers), and the right to trace",
    probe: || says("strace", &["-qq", "-o", "/dev/null", "true"], &[]),
};

/// testssl.sh, which needs programs that it does not bundle.
pub const TESTSSL: TestDependency = TestDependency {
    name: "testssl.sh",
    remedy: "apt-get install testssl.sh (or make bench-peers)",
    probe: || output_of(Command::new(testssl().ok_or("it is not installed")?).arg("--version")).map(|_| ()),
};

/// clang and lld for WebAssembly.
pub const CLANG_WASM: TestDependency = TestDependency {
    name: "clang with its linker for Wasm",
    remedy: "apt-get install clang lld",
    probe: || {
        says("clang", &["--print-targets"], &["wasm32"])?;
        says("wasm-ld", &["--version"], &["LLD"])
    },
};

/// Rust's standard library for Wasm. `rustup` installs it with the toolchain; no package registry has it.
pub const RUST_WASM: TestDependency = TestDependency {
    name: "Rust's standard library for wasm32-wasip1",
    remedy: "rustup target add wasm32-wasip1",
    probe: || {
        let folder = run("rustc", &["--print", "target-libdir", "--target", "wasm32-wasip1"])?;
        let folder = folder.lines().last().unwrap_or_default();
        if Path::new(folder).is_dir() { Ok(()) } else { Err(format!("there is no {folder}")) }
    },
};

/// C compiler with the address sanitizer and the undefined behaviour sanitizer.
pub const SANITIZERS: TestDependency = TestDependency {
    name: "a C compiler with sanitizers",
    remedy: "apt-get install gcc libc6-dev",
    probe: || {
        let link =
            "echo 'int main(void) { return 0; }' | cc -fsanitize=address,undefined -x c -o /dev/null -";
        says("sh", &["-c", link], &[])
    },
};

/// gcc with a shared runtime of its address sanitizer, for preloading into a program.
pub const GCC_SANITIZERS: TestDependency = TestDependency {
    name: "gcc with a shared address sanitizer",
    remedy: "apt-get install gcc",
    // A compiler without it prints the name unchanged.
    probe: || says("cc", &["-print-file-name=libasan.so"], &["/libasan.so"]),
};

/// The Go command.
pub const GO: TestDependency = TestDependency {
    name: "Go",
    remedy: "Go 1.24 or later, from https://go.dev/dl",
    probe: || says("go", &["version"], &[]),
};

/// The Go modules of the example filter with Coraza and of its tests, which the Go command fetches.
pub const CORAZA: TestDependency = TestDependency {
    name: "Coraza",
    remedy: FROM_REGISTRY,
    probe: || {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for folder in ["examples/filters/go-coraza", "tests/waf"] {
            let list = ["list", "-deps", "-test", "-f", "{{.ImportPath}}", "./..."];
            output_of(Command::new("go").args(list).current_dir(tree.join(folder)))?;
        }
        Ok(())
    },
};

/// Validator of OpenAPI documents, a Python package.
pub const OPENAPI_VALIDATOR: TestDependency = TestDependency {
    name: "openapi-spec-validator",
    remedy: "tests/differential/install (or make bench-peers)",
    probe: || output_of(Command::new(python()).args(["-c", "import openapi_spec_validator"])).map(|_| ()),
};

/// Command that installs the HTTP parsers of `tests/differential`.
pub const HTTP_PARSERS: &str = "tests/differential/install, and apt-get install nodejs (or make bench-peers)";

/// Remedy for a skipped test that fetches from a package registry.
pub const FROM_REGISTRY: &str = "make test where crates.io and the Go module proxy are within reach";

/// Remedy for a skipped test that fetches from a public repository.
pub const FROM_REPOSITORY: &str =
    "make test where raw.githubusercontent.com is within reach, or with the files in $EDDY_ENVOY_FILTERS";

/// Checks that `nginx -V` prints all of these words: configure options, or the version.
fn nginx_has(options: &[&str]) -> Result<(), String> {
    says("nginx", &["-V"], options)
}

/// Checks that nginx was configured without any of these options.
fn nginx_lacks(options: &[&str]) -> Result<(), String> {
    let text = run("nginx", &["-V"])?;
    match options.iter().find(|option| text.contains(*option)) {
        Some(option) => Err(format!("it was built with {option}")),
        None => Ok(()),
    }
}

/// Checks that the file of a dynamic module exists.
fn nginx_module(file: &str) -> Result<(), String> {
    let path = nginx_modules().join(file);
    if path.is_file() { Ok(()) } else { Err(format!("there is no {}", path.display())) }
}

/// Checks that a program runs with these arguments and prints all of these words.
fn says(name: &str, arguments: &[&str], words: &[&str]) -> Result<(), String> {
    let text = run(name, arguments)?;
    match words.iter().find(|word| !text.contains(*word)) {
        Some(word) => Err(format!("`{name} {}` does not print {word:?}", arguments.join(" "))),
        None => Ok(()),
    }
}

fn run(name: &str, arguments: &[&str]) -> Result<String, String> {
    let program = program(name).ok_or_else(|| format!("there is no program `{name}`"))?;
    output_of(Command::new(program).args(arguments))
}

/// Returns the standard output and standard error of a command.
fn output_of(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run {name}: {error}"))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Err(format!("{name} ended with {}: {last}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_lacks_a_feature_counts_as_missing() {
        let check = |words: &[&str], expected: Result<(), &str>| {
            assert_eq!(says("echo", &["one", "two"], words), expected.map_err(str::to_owned));
        };
        check(&[], Ok(()));
        check(&["one", "two"], Ok(()));
        check(&["one", "three"], Err("`echo one two` does not print \"three\""));
        assert_eq!(
            says("no-such-program", &[], &[]),
            Err("there is no program `no-such-program`".to_owned())
        );
        assert!(
            says("sh", &["-c", "echo why >&2; exit 3"], &[]).unwrap_err().ends_with("exit status: 3: why")
        );
    }

    #[test]
    fn a_missing_peer_is_named_with_its_reason() {
        let absent =
            TestDependency { name: "it", remedy: "get it", probe: || Err("it is not there".to_owned()) };
        assert_eq!(absent.missing().as_deref(), Some("it is missing: it is not there"));
        assert!(!absent.is_present());
        let present = TestDependency { name: "another", probe: || Ok(()), ..absent };
        assert!(present.is_present());
    }
}
