//! `eddy convert`: converts the routes of a configuration to another dialect.

use std::fmt::Write;

use eddy_convert::{ConversionTarget, convert};

use super::arguments::{Convert, ConvertTarget};
use super::error::CommandError;
use super::load::load;
use crate::terminal::{print, print_error};

/// Prints the converted routes, and reports what cannot be converted.
///
/// # Errors
/// When the configuration has errors, or something cannot be converted exactly and `--partial` is not given.
pub(super) fn run(arguments: &Convert) -> Result<(), CommandError> {
    let config = load(&arguments.files.configs, arguments.dialect.leniency())?;
    let target = match arguments.to {
        ConvertTarget::Eddy => ConversionTarget::Eddy,
        ConvertTarget::GatewayApi => ConversionTarget::GatewayApi,
    };
    let converted = convert(&config, target);
    let mut losses = String::new();
    for loss in &converted.losses {
        // Writing to a string never fails.
        let _ = writeln!(losses, "{}: {}", loss.origin, loss.reason);
    }
    print_error(&losses);
    let is_exact = converted.losses.is_empty();
    if is_exact || arguments.partial {
        print(&converted.text)?;
        return Ok(());
    }
    let count = converted.losses.len();
    print_error(&format!(
        "{count} {} cannot be converted exactly; `--partial` writes the rest\n",
        if count == 1 { "item" } else { "items" }
    ));
    Err(CommandError::Reported)
}
