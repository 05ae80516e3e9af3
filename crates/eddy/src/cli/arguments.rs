//! Command-line arguments and their help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use eddy_route::OtherDialect;
use eddy_spec::Leniency;

use super::duration::parse_duration;
use crate::bundle::GoBuildTarget;
use crate::child::LogChoice;
use crate::descriptors::ServerAddress;
use crate::explain::parse_dialect;

/// An L7 gateway: routes HTTP by rules that explain themselves.
#[derive(Debug, Parser)]
#[command(name = "eddy", version, max_term_width = 100, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    /// Start the gateway
    #[command(after_help = AFTER_RUN)]
    Run(RunArgs),
    /// Check a configuration and report every problem
    #[command(after_help = AFTER_CHECK)]
    Check(Check),
    /// Explain which rule a request matches, and why the others do not win
    #[command(after_help = AFTER_EXPLAIN)]
    Explain(Explain),
    /// List the rules in matching order
    #[command(after_help = AFTER_ROUTES)]
    Routes(RoutesArgs),
    /// Convert the routes to another dialect
    #[command(after_help = AFTER_CONVERT)]
    Convert(Convert),
    /// Fetch protobuf descriptors, and describe their HTTP API
    Descriptors(Descriptors),
    /// Create, build and test your own filters
    Filter(FilterArgs),
    /// The gateway process that `eddy run` starts
    #[command(hide = true)]
    Gateway(GatewayArgs),
    /// The process in which filters are probed before they are put in force
    #[command(hide = true)]
    ProbeFilters,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) files: ConfigArguments,

    /// Run the gateway in this process, without a parent that supervises it; for debugging
    #[arg(long)]
    pub(super) no_parent: bool,

    /// Time for a new gateway process to become ready before the hand-over is abandoned, as in 500ms, 30s or 2m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub(super) handover_timeout: Duration,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,

    #[command(flatten)]
    pub(super) log: LogChoice,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    /// Files, or directories of *.yaml files. Several are merged: eddy's own, and Kubernetes manifests. An nginx.conf
    /// (with its includes) or an Envoy configuration must be the only one
    #[arg(value_name = "CONFIG", required = true)]
    pub(super) configs: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct DialectArguments {
    /// Ignore, with a warning, what eddy does not support in the configuration of another program: an nginx.conf, an
    /// Envoy configuration, Kubernetes and Istio manifests
    #[arg(long)]
    pub(super) lenient: bool,
}

impl DialectArguments {
    /// Returns the handling of features that eddy does not support.
    pub(super) fn leniency(self) -> Leniency {
        if self.lenient { Leniency::Lenient } else { Leniency::Strict }
    }
}

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) files: ConfigArguments,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,

    /// Write a JSON object to standard output instead of text
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(override_usage = "eddy explain [OPTIONS] <CONFIG>... <URL>")]
pub(super) struct Explain {
    /// Files or directories, as for `eddy run`, and as the last one the URL of the request: http://HOST/PATH,
    /// HOST/PATH, or /PATH for a request without a host
    // One list, because options may stand between its elements.
    #[arg(value_name = "CONFIG... URL", required = true)]
    pub(super) configs_and_url: Vec<OsString>,

    /// Method of the request
    #[arg(short = 'X', long = "method", value_name = "METHOD", default_value = "GET")]
    pub(super) method: String,

    /// Header of the request, as in 'accept: text/html'; may be given several times
    #[arg(short = 'H', long = "header", value_name = "FIELD", action = ArgAction::Append)]
    pub(super) fields: Vec<String>,

    /// Name of the only listener to explain; all listeners by default
    #[arg(long, value_name = "NAME")]
    pub(super) listener: Option<String>,

    /// Explain only why this rule does not win
    #[arg(long, value_name = "RULE")]
    pub(super) why_not: Option<String>,

    /// Show which rule would win if all were written in this dialect: eddy, envoy, gateway-api, ingress, istio or
    /// nginx; may be given several times
    #[arg(long = "as", value_name = "DIALECT", action = ArgAction::Append, value_parser = parse_dialect)]
    pub(super) others: Vec<OtherDialect>,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,

    /// Show every rule and its reason, including rules for other hosts and paths
    #[arg(long)]
    pub(super) all: bool,

    /// Write JSON instead of text
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RoutesArgs {
    #[command(flatten)]
    pub(super) files: ConfigArguments,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,

    /// Instead of the list, show a short request that reaches this rule
    #[arg(long, value_name = "RULE", conflicts_with = "diff")]
    pub(super) witness: Option<String>,

    /// Instead of the list, show requests that this older configuration handles differently; may be given several
    /// times, for its files
    #[arg(long, value_name = "OLD", action = ArgAction::Append)]
    pub(super) diff: Vec<PathBuf>,

    /// Write JSON instead of text
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Convert {
    #[command(flatten)]
    pub(super) files: ConfigArguments,

    /// Dialect to write
    #[arg(long, value_name = "DIALECT", value_enum, required = true)]
    pub(super) to: ConvertTarget,

    /// Write the part that can be converted if not everything can be
    #[arg(long)]
    pub(super) partial: bool,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ConvertTarget {
    /// An eddy.yaml
    Eddy,
    /// Gateway API manifests, with Services
    GatewayApi,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_DESCRIPTORS)]
pub(super) struct Descriptors {
    #[command(subcommand)]
    pub(super) command: DescriptorsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DescriptorsCommand {
    /// Fetch the descriptors from a server with gRPC reflection (grpc.reflection)
    #[command(after_help = AFTER_DESCRIPTORS_FETCH)]
    Fetch(DescriptorsFetch),
    /// Write the HTTP API that grpc_json provides for a service, as OpenAPI 3.1
    #[command(after_help = AFTER_DESCRIPTORS_OPENAPI)]
    Openapi(DescriptorsOpenapi),
}

#[derive(Debug, Args)]
pub(super) struct DescriptorsFetch {
    /// Address of the server, without TLS
    #[arg(value_name = "HOST:PORT", required = true)]
    pub(super) server: ServerAddress,

    /// Full name of a service, as in shop.v1.Shop; may be given several times. All services by default
    #[arg(long = "service", value_name = "NAME", action = ArgAction::Append)]
    pub(super) services: Vec<String>,

    /// File to write
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(super) output: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct DescriptorsOpenapi {
    /// Descriptors, as written by protoc or `eddy descriptors fetch`
    #[arg(value_name = "FILE", required = true)]
    pub(super) descriptors: PathBuf,

    /// Full name of a service, as in shop.v1.Shop; may be given several times. All services by default
    #[arg(long = "service", value_name = "NAME", action = ArgAction::Append)]
    pub(super) services: Vec<String>,

    /// Include methods without google.api.http, as `auto: true` of grpc_json does
    #[arg(long)]
    pub(super) auto: bool,

    /// Use declared field names, as `names: declared` of grpc_json does
    #[arg(long)]
    pub(super) declared_names: bool,

    /// Title of the API
    #[arg(long, value_name = "TEXT", default_value = "API")]
    pub(super) title: String,

    /// Version of the API
    #[arg(long, value_name = "TEXT", default_value = "1")]
    pub(super) api_version: String,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_FILTER)]
pub(super) struct FilterArgs {
    #[command(subcommand)]
    pub(super) command: FilterCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum FilterCommand {
    /// Create a filter project that builds, has a test and runs
    #[command(after_help = AFTER_FILTER_NEW)]
    New(FilterNew),
    /// Link the Go packages of a configuration into a library
    #[command(after_help = AFTER_FILTER_BUILD)]
    Build(FilterBuild),
    /// Run the tests of a filter, with the SDK that eddy contains
    #[command(after_help = AFTER_FILTER_TEST)]
    Test(FilterTest),
}

#[derive(Debug, Args)]
pub(super) struct FilterNew {
    /// Name of the filter: lower-case letters, digits and hyphens, as in basic-auth
    #[arg(value_name = "NAME", required = true)]
    pub(super) name: String,

    /// Programming language
    #[arg(long, value_name = "LANGUAGE", value_enum, required = true)]
    pub(super) lang: Language,

    /// Folder for the project, new or empty; by default named after the filter
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,

    #[command(flatten)]
    pub(super) cache: CacheArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// A C library
    C,
    /// A Go package; eddy links it itself
    Go,
    /// A Lua script; nothing is built
    Lua,
    /// A Rust library
    Rust,
    /// A Wasm module in C, with the proxy-wasm ABI
    WasmC,
    /// A Wasm module in Go, from the same source as a Go package
    WasmGo,
    /// A Wasm module in Rust, with the proxy-wasm SDK
    WasmRust,
}

#[derive(Debug, Args)]
pub(super) struct FilterBuild {
    #[command(flatten)]
    pub(super) files: ConfigArguments,

    /// Build target
    #[arg(long, value_name = "TARGET", value_enum, default_value_t)]
    pub(super) target: GoBuildTarget,

    /// Write a copy of the library to this file, for use as `library` on machines without Go; or of the Wasm module,
    /// for use as `module`
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) cache: CacheArguments,

    /// Write a JSON object to standard output instead of text
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct FilterTest {
    /// Folder of the filter
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,

    /// Further arguments for `go test` or `cargo test`, after `--`; for Lua specs, parts of the names of the tests to
    /// run
    #[arg(value_name = "ARGUMENT", last = true)]
    pub(super) rest: Vec<OsString>,

    #[command(flatten)]
    pub(super) cache: CacheArguments,
}

#[derive(Debug, Args)]
pub(super) struct CacheArguments {
    /// Folder for built libraries and SDKs; by default EDDY_CACHE_DIR, else eddy in the user's cache folder
    #[arg(long, value_name = "DIR")]
    pub(super) cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct GatewayArgs {
    #[arg(required = true)]
    pub(super) configs: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) dialect: DialectArguments,

    #[command(flatten)]
    pub(super) log: LogChoice,
}

const AFTER_HELP: &str = "\
Examples:
  eddy check eddy.yaml                        report every problem, with file, line and a hint
  eddy run eddy.yaml                          start; Ctrl-C finishes open requests and exits
  eddy explain eddy.yaml http://localhost/a   show which rule wins for this request, and why
  eddy routes eddy.yaml                       list the rules in matching order
  eddy filter new --lang go hello             create a filter project, ready to run

CONFIG is an eddy.yaml, an nginx.conf, an Envoy configuration, or Kubernetes manifests: Gateways,
HTTPRoutes, GRPCRoutes, Ingresses, or the Gateways and VirtualServices of Istio.

Exit codes:
  0  success
  1  the configuration or the input is invalid
  2  the command line is invalid
  70 internal error; please report it

`eddy help COMMAND` shows help for a command.";

const AFTER_RUN: &str = "\
Signals to the process that was started:
  HUP              reload the configuration; changed files are detected without a signal
  TERM, INT, QUIT  refuse new connections, finish open requests, exit; again: exit at once
  USR1             reopen log files
  USR2             hand over to the program that is now on disk; if that fails, nothing changes

An invalid configuration never replaces a valid one: its problems are logged, and the one in force
stays. Output is coloured only on a terminal, and never when NO_COLOR is set.

Examples:
  eddy run eddy.yaml
  eddy run conf.d/ --log-level debug
  eddy run nginx.conf                 servers and locations of NGINX
  eddy run envoy.yaml                 listeners, routes and clusters of Envoy
  eddy run manifests/ eddy.yaml       Gateways, HTTPRoutes and Ingresses of Kubernetes
  eddy run istio/                     Gateways and VirtualServices of Istio
  eddy run eddy.yaml --json 2>> /var/log/eddy.log
  pkill -HUP -o -x eddy";

const AFTER_CHECK: &str = "\
The exit code is 1 if there is an error, and 0 if there are only warnings.

Examples:
  eddy check eddy.yaml
  eddy check base.yaml site.yaml
  eddy check manifests/
  eddy check eddy.yaml --json | jq '.problems[].message'";

const AFTER_EXPLAIN: &str = "\
The request is parsed, and its path normalised, exactly as by the gateway.

Examples:
  eddy explain eddy.yaml http://www.example.com/user/1
  eddy explain eddy.yaml www.example.com/user -X POST -H 'content-type: application/json'
  eddy explain eddy.yaml http://localhost/a --why-not catch-all
  eddy explain eddy.yaml http://localhost/a --all
  eddy explain manifests/ http://localhost/a --as envoy --as nginx    which rule would win there
  eddy explain eddy.yaml /healthz --json";

const AFTER_ROUTES: &str = "\
Rules that can never win are marked DEAD or SHADOWED; rules that win or lose only by their order
in the file are marked FRAGILE.

Examples:
  eddy routes eddy.yaml
  eddy routes eddy.yaml --json | jq '.listeners[].rules[].rule'
  eddy routes eddy.yaml --witness catch-all    a request that this rule wins
  eddy routes new.yaml --diff old.yaml         requests that are handled differently";

const AFTER_CONVERT: &str = "\
The converted routes send the same requests to the same endpoints, with the same path, host and
headers. Everything that the other dialect cannot express is reported with file and line; then
nothing is written, unless `--partial` is given.

Exit code 1 if something cannot be converted exactly and `--partial` is not given.

Examples:
  eddy convert --to eddy nginx.conf > eddy.yaml
  eddy convert --to gateway-api eddy.yaml > routes.yaml
  eddy convert --to eddy --partial nginx.conf 2> left-out.txt > eddy.yaml";

const AFTER_DESCRIPTORS: &str = "\
Examples:
  eddy descriptors fetch 127.0.0.1:50051 -o shop.binpb    for grpc_json, message_fields and redact
  eddy descriptors openapi shop.binpb > shop.json         the HTTP API that grpc_json provides";

const AFTER_DESCRIPTORS_FETCH: &str = "\
The file is replaced atomically, and only on success. A running gateway keeps the descriptors that
it has read until its configuration is reloaded.

Examples:
  eddy descriptors fetch 127.0.0.1:50051 -o shop.binpb
  eddy descriptors fetch shop.internal:443 --service shop.v1.Shop -o shop.binpb";

const AFTER_DESCRIPTORS_OPENAPI: &str = "\
Paths, parameters and bodies follow the google.api.http options, schemas follow the JSON form of
protobuf.

Examples:
  eddy descriptors openapi shop.binpb --title Shop --api-version 1.4 > shop.json
  eddy descriptors openapi shop.binpb --service shop.v1.Shop --auto";

const AFTER_FILTER: &str = "\
Examples:
  eddy filter new --lang go hello     a project in the folder hello; or --lang lua, rust, c, ...
  eddy filter test hello              its tests, which need no gateway
  eddy run hello/eddy.yaml            a gateway with the filter, and a service behind it

A filter written for Envoy's Go API is used like any other Go package: set `package` to its folder.";

const AFTER_FILTER_NEW: &str = "\
Existing files are never overwritten. eddy contains its SDKs and unpacks them into the cache, so
projects in C, Go and Lua build without network access; Cargo fetches the dependencies of others.

Examples:
  eddy filter new --lang go hello
  eddy filter new --lang lua hello
  eddy filter new --lang rust --dir filters/keyed keyed
  eddy filter new --lang wasm-rust hello";

const AFTER_FILTER_BUILD: &str = "\
All Go packages of a configuration are linked into one library, because a process can have only
one Go runtime. `eddy run` and `eddy check` build it by themselves if Go 1.24 or later and a C
compiler are installed. The cache keeps the last 16 libraries; unchanged packages are not compiled
again. Variables such as GOFLAGS, GOPROXY and CC are respected.

Exit code 1 if the build fails.

Examples:
  eddy filter build eddy.yaml                         prints the path of the library
  eddy filter build eddy.yaml --output filters.so     for a machine without Go
  eddy filter build eddy.yaml --json | jq -r .library
  eddy filter build eddy.yaml --target wasm --output filters.wasm     for a sandbox";

const AFTER_FILTER_TEST: &str = "\
Runs the specs in the folder, Lua scripts whose names end in _spec.lua; if there are none,
`go test ./...` or `cargo test`. If go.mod does not find the SDK by itself, the SDK that eddy
contains is used.

A spec loads filters, sends requests to them, and checks the results; no gateway runs. A filter is
a Lua script, a Wasm module (.wasm), or a library in Rust or C (.so):

  local hello = filter { file = \"filter.lua\", config = { greeting = \"hello\" } }
  test(\"the service is greeted\", function()
    local answer = hello:send { path = \"/\", headers = { accept = \"text/plain\" } }
    equal(answer.status, 200)
    equal(answer.forwarded.headers[\"x-greeting\"], \"hello\")
  end)

Exit code 1 if a test fails.

Examples:
  eddy filter test
  eddy filter test hello -- -run Greeting -v
  eddy filter test hello -- greeted           the Lua tests with this text in their names";
