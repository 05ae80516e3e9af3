//! The command line.

use std::fs;
use std::io::{Write, stderr, stdout};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::load::{Generator, LoadStats, ScenarioRequest};
use crate::measure::machine;
use crate::origin::BenchOrigin;
use crate::report::protobuf::Protobuf;
use crate::report::results::Results;
use crate::report::routes::RouteBenchReport;
use crate::report::{chart, file, filters, left, protobuf, routes, summary, table};
use crate::run::{
    AbOptions, FilterOptions, RunOptions, results_folder, run_ab, run_all_scenarios, run_filters,
};
use crate::{peers, signals};

/// Benchmarks that compare eddy with other gateways.
#[derive(Parser, Debug)]
#[command(name = "eddy-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Compares all targets in all scenarios; writes results/NAME.json, .md and .svg.
    Run(RunOptions),
    /// Compares two builds or configurations of eddy in many pairs of windows.
    Ab(AbOptions),
    /// Measures the cost of filters in each gateway; writes results/NAME.json, .md and .svg.
    Filters(FilterOptions),
    /// Writes the table and the chart of a results file again.
    Report {
        /// Results file, results/NAME.json.
        file: PathBuf,
        /// Also writes a summary into this document, between `<!-- bench:start -->` and `<!-- bench:end -->`. Other
        /// markers, each used only if the results have such figures: `transports:start` and `transports:end` for
        /// transports, `filters:start` and `filters:end` for filters (with a chart beside the document),
        /// `routes:start` and `routes:end` for route lookups, `protobuf:start` and `protobuf:end` for protobuf
        /// messages, `protobuf-go:start` and `protobuf-go:end` for Go codecs.
        #[arg(long)]
        into: Option<PathBuf>,
    },
    /// Serves GET /N with N bytes and POST with the number of bytes posted.
    Origin {
        /// Address to listen on; port 0 selects a free port, which is printed.
        #[arg(long, default_value = "127.0.0.1:9000")]
        address: SocketAddr,
    },
    /// Generates load on an address and prints the results.
    Load(LoadOptions),
    /// Uses all CPU time that it can get until the process that started it ends.
    #[command(hide = true)]
    Spin {
        /// Id of that process.
        parent: u32,
    },
    /// Runs a program that ends when the process that started it ends.
    #[command(hide = true)]
    Guard {
        /// Id of that process.
        parent: u32,
        /// Program and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

#[derive(Args, Debug)]
struct LoadOptions {
    /// Address to load.
    #[arg(long, default_value = "127.0.0.1:9000")]
    target: SocketAddr,
    /// Closed loop (as fast as the target answers) or open loop (at a fixed rate whether it answers or not).
    #[arg(long, value_enum, default_value_t = Mode::Closed)]
    mode: Mode,
    /// Requests per second of the open loop.
    #[arg(long, default_value_t = 1000.0)]
    rate: f64,
    /// Number of connections.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Duration in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Bytes of the response body, or of the request body with --post.
    #[arg(long, default_value_t = 128)]
    bytes: usize,
    /// Path before the number of bytes.
    #[arg(long, default_value = "")]
    prefix: String,
    /// Sends POST instead of GET.
    #[arg(long, conflicts_with = "once")]
    post: bool,
    /// Opens a new connection for each request.
    #[arg(long)]
    once: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Closed,
    Open,
}

/// Runs the command line.
pub fn main() -> ExitCode {
    match act(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            // Without standard error the message cannot be shown.
            let _ = writeln!(stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn act(action: Action) -> Result<ExitCode> {
    match action {
        Action::Run(options) => {
            signals::watch()?;
            let folder = results_folder(&options.settings);
            let results = run_all_scenarios(options)?;
            say(&table::markdown(&results))?;
            write_results(&results, &folder)
        }
        Action::Ab(options) => {
            signals::watch()?;
            let folder = results_folder(&options.settings);
            let results = run_ab(options)?;
            say(&table::comparison(&results))?;
            write_results(&results, &folder)
        }
        Action::Filters(options) => {
            signals::watch()?;
            let folder = results_folder(&options.settings);
            let results = run_filters(options)?;
            say(&filters::markdown(&results))?;
            write_results(&results, &folder)
        }
        Action::Report { file, into } => report(&file, into.as_deref()),
        Action::Origin { address } => {
            machine::raise_files_max();
            let mut origin = BenchOrigin::bind(address)?;
            say(&format!("{}\n", origin.address()))?;
            origin.serve()?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Load(options) => load(&options),
        Action::Spin { parent } => {
            if !peers::set_parent_death_signal(parent)? {
                bail!("the parent process has ended");
            }
            loop {
                std::hint::spin_loop();
            }
        }
        Action::Guard { parent, command } => guard(parent, &command),
    }
}

fn report(file: &Path, into: Option<&Path>) -> Result<ExitCode> {
    let written = read_file(file)?;
    if let Ok(results) = serde_json::from_str::<RouteBenchReport>(&written) {
        let document = into.context("results of route lookups need a document: --into FILE")?;
        let text = routes::insert(&read_file(document)?, &results)
            .with_context(|| format!("cannot insert a table into `{}`", document.display()))?;
        write_file(document, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Ok(results) = serde_json::from_str::<Protobuf>(&written) {
        let document = into.context("results of protobuf messages need a document: --into FILE")?;
        let text = protobuf::insert(&read_file(document)?, &results)
            .with_context(|| format!("cannot insert a table into `{}`", document.display()))?;
        write_file(document, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let results: Results =
        serde_json::from_str(&written).with_context(|| format!("`{}` has no results", file.display()))?;
    write_report(&results, file.parent().unwrap_or_else(|| Path::new(".")))?;
    if let Some(document) = into {
        let text = read_file(document)?;
        let text = if filters::is_of_filters(&results) {
            let chart = write_left(&results, document)?;
            filters::insert(&text, &results, chart.as_deref())
        } else {
            summary::insert(&text, &results)
        };
        let text = text.with_context(|| format!("cannot insert a summary into `{}`", document.display()))?;
        write_file(document, &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn load(options: &LoadOptions) -> Result<ExitCode> {
    machine::raise_files_max();
    let LoadOptions { bytes, .. } = *options;
    let request = match (options.post, options.once) {
        (true, _) => ScenarioRequest::Post { bytes },
        (false, true) => ScenarioRequest::GetOnce { bytes },
        (false, false) => ScenarioRequest::Get { prefix: options.prefix.clone(), bytes },
    };
    let exchange = request.exchange(options.target);
    let window = Duration::try_from_secs_f64(options.seconds).context("--seconds")?;
    let mut generator = Generator::new(options.target, &exchange, options.connections)?;
    let tally = match options.mode {
        Mode::Closed => generator.run_closed(window)?,
        Mode::Open => generator.run_open(window, options.rate, 1)?,
    };
    say(&tally_text(&tally))?;
    Ok(if tally.error_count() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tally_text(tally: &LoadStats) -> String {
    let time = |time: Option<Duration>| time.map(|time| (time.as_secs_f64() * 1e7).round() / 10.0);
    let summary = serde_json::json!({
        "requests": tally.requests,
        "rps": tally.rate().round(),
        "p50_us": time(tally.latency(0.5)),
        "p90_us": time(tally.latency(0.9)),
        "p99_us": time(tally.latency(0.99)),
        "p999_us": time(tally.latency(0.999)),
        "max_us": time(tally.latency(1.0)),
        "delay_p99_us": time(tally.delay(0.99)),
        "reconnects": tally.reconnects,
        "errors": tally.errors,
    });
    format!("{summary:#}\n")
}

fn guard(parent: u32, command: &[std::ffi::OsString]) -> Result<ExitCode> {
    let (program, arguments) = command.split_first().context("no command to run")?;
    if !peers::set_parent_death_signal(parent)? {
        bail!("the parent process has ended");
    }
    let failure = Command::new(program).args(arguments).exec();
    Err(failure).with_context(|| format!("cannot run {}", program.display()))
}

/// Writes the results. A run with faults fails, but only after everything has been written.
fn write_results(results: &Results, folder: &Path) -> Result<ExitCode> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    write_file(&folder.join(format!("{}.json", results.name)), &file::json(results)?)?;
    write_report(results, folder)?;
    Ok(if results.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_report(results: &Results, folder: &Path) -> Result<()> {
    let text =
        if filters::is_of_filters(results) { filters::markdown(results) } else { table::markdown(results) };
    write_file(&folder.join(format!("{}.md", results.name)), &text)?;
    if let Some(svg) = chart::svg(results) {
        write_file(&folder.join(format!("{}.svg", results.name)), &svg)?;
    }
    Ok(())
}

/// Draws the filter chart beside `document`, under its name, and returns the file name.
fn write_left(results: &Results, document: &Path) -> Result<Option<String>> {
    let Some(svg) = left::svg(results) else { return Ok(None) };
    let path = document.with_extension("svg");
    write_file(&path, &svg)?;
    Ok(path.file_name().map(|name| name.to_string_lossy().into_owned()))
}

fn read_file(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn say(text: &str) -> Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_wrapped_command_keeps_its_arguments() {
        let cli = Cli::parse_from(["eddy-bench", "guard", "1", "nginx", "-p", "x", "-g", "daemon off;"]);
        let Action::Guard { parent: 1, command } = cli.command else { panic!("{cli:?}") };
        assert_eq!(command, ["nginx", "-p", "x", "-g", "daemon off;"]);
    }
}
