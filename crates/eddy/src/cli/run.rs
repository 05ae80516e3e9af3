//! `eddy run`, and the gateway process that it starts.

use std::ffi::OsString;
use std::path::PathBuf;

use eddy_source::FileSource;

use super::arguments::{DialectArguments, GatewayArgs, RunArgs};
use super::error::OUR_FAULT;
use super::filter::print_linking;
use crate::bundle::GoBuildTarget;
use crate::child::{self, ChildOptions, LogChoice, Supervision};
use crate::filters;
use crate::log::Log;
use crate::notify::Notifier;
use crate::parent::{GatewayProgram, Supervisor};
use crate::signals::Signals;
use crate::terminal::print_error;

/// Runs the parent process, or with `--no-parent` the gateway alone, to its end.
pub(super) fn run(arguments: RunArgs) -> u8 {
    let notifier = Notifier::new(std::env::var_os("NOTIFY_SOCKET"));
    if arguments.no_parent {
        return serve(
            arguments.files.configs,
            arguments.dialect,
            arguments.log,
            Supervision::Standalone(notifier),
        );
    }
    let choice = arguments.log;
    build_ahead(&arguments.files.configs, arguments.dialect, choice);
    let Some((signals, log)) = prepare("parent", choice) else { return OUR_FAULT };
    let mut for_gateway: Vec<OsString> = Vec::new();
    if let Some(level) = choice.level {
        for_gateway.extend(["--log-level".into(), level.to_string().into()]);
    }
    if choice.is_json {
        for_gateway.push("--json".into());
    }
    if arguments.dialect.lenient {
        for_gateway.push("--lenient".into());
    }
    for_gateway.push("--".into());
    for_gateway.extend(arguments.files.configs.into_iter().map(PathBuf::into_os_string));
    let program = match GatewayProgram::of_this_process(for_gateway) {
        Ok(program) => program,
        Err(error) => {
            print_error(&format!("eddy: cannot find the executable of this process: {error}\n"));
            return OUR_FAULT;
        }
    };
    let ready_timeout = arguments.handover_timeout;
    let code = Supervisor::new(program, signals, log.clone(), notifier, ready_timeout).run();
    log.flush();
    code
}

/// Links the Go packages of the configuration in advance, as that may take longer than the time a gateway process has
/// to become ready. Errors are left to that process to report.
fn build_ahead(paths: &[PathBuf], dialect: DialectArguments, choice: LogChoice) {
    let source = FileSource::new(paths.to_vec()).with_leniency(dialect.leniency());
    if let Ok(mut loaded) = source.load() {
        // Plain text would break a log of JSON objects.
        let notice = || {
            if !choice.is_json {
                print_linking()
            }
        };
        let _ = filters::link_packages(&mut loaded.checked.config, None, GoBuildTarget::Library, &notice);
    }
}

/// Runs a gateway process that a parent started.
pub(super) fn gateway(arguments: GatewayArgs) -> u8 {
    serve(arguments.configs, arguments.dialect, arguments.log, Supervision::Parent)
}

fn serve(
    paths: Vec<PathBuf>,
    dialect: DialectArguments,
    log_choice: LogChoice,
    upbringing: Supervision,
) -> u8 {
    let leniency = dialect.leniency();
    let Some((signals, log)) = prepare("gateway", log_choice) else { return OUR_FAULT };
    child::run(ChildOptions { paths, leniency, log, log_choice, signals, upbringing })
}

/// Sets up either kind of process, in this order: threads started later inherit the blocked signals.
fn prepare(process: &'static str, choice: LogChoice) -> Option<(Signals, Log)> {
    // The image may have been executed through a descriptor; people look for this process name.
    let _ = rustix::thread::set_name(c"eddy");
    eddy_io::descriptors_max();
    let prepared = Signals::block().and_then(|signals| Ok((signals, Log::start(process, choice.alone())?)));
    match prepared {
        Ok((signals, log)) => {
            log_panics(log.clone());
            Some((signals, log))
        }
        Err(error) => {
            print_error(&format!("eddy: cannot start: {error}\n"));
            None
        }
    }
}

/// Logs panics like other log entries.
fn log_panics(log: Log) {
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        let place = panic.location().map(ToString::to_string);
        let message = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(thread, place, "internal error: {message}");
        log.flush();
    }));
}
