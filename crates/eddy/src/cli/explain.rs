//! `eddy explain`: explains which rule wins for a request, and why.

use std::path::PathBuf;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::arguments::{Arguments, Explain};
use super::error::CommandError;
use super::load::{load, router_of};
use crate::explain::{Question, explain};
use crate::terminal::{print, print_json};

/// Explains a request for each listener.
///
/// # Errors
/// When the configuration has errors, the request is invalid, or there is no such listener or rule.
pub(super) fn run(arguments: &Explain) -> Result<(), CommandError> {
    let Some((url, configs)) = arguments.configs_and_url.split_last().filter(|(_, rest)| !rest.is_empty())
    else {
        refuse_usage();
    };
    let configs: Vec<PathBuf> = configs.iter().map(PathBuf::from).collect();
    let config = load(&configs, arguments.dialect.leniency())?;
    let question = Question {
        url: url.to_string_lossy().into_owned(),
        method: arguments.method.clone(),
        fields: arguments.fields.clone(),
        listener: arguments.listener.clone(),
        why_not: arguments.why_not.clone(),
        all: arguments.all,
        others: arguments.others.clone(),
    };
    let answers = explain(&config, &question, |number, ask| {
        let listener = config.listeners.get(number);
        if let Some(router) = listener.map(|listener| router_of(&config, listener)).transpose()?.flatten() {
            ask(&router);
        }
        Ok(())
    })?;
    if arguments.json {
        print_json(&answers)?;
    } else {
        print(&answers.text())?;
    }
    Ok(())
}

/// Prints that the URL is missing, and exits like the parser of the arguments.
fn refuse_usage() -> ! {
    let mut command = Arguments::command();
    command.build();
    let explain = command.find_subcommand_mut("explain").expect("it is a command of the program");
    let message = "the following required arguments were not provided:\n  <URL>";
    explain.error(ErrorKind::MissingRequiredArgument, message).exit()
}
