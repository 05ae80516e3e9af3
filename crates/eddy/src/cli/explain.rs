//! `eddy explain`: explains which rule wins for a request, and why.

use super::arguments::Explain;
use super::error::CommandError;
use super::load::{load, router_of};
use crate::explain::{Question, explain};
use crate::terminal::{print, print_json};

/// Explains a request for each listener.
///
/// # Errors
/// When the configuration has errors, the request is invalid, or there is no such listener or rule.
pub(super) fn run(arguments: &Explain) -> Result<(), CommandError> {
    let config = load(&arguments.files.configs, arguments.dialect.leniency())?;
    let question = Question {
        url: arguments.url.clone(),
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
