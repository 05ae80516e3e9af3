//! Command line of the generator: `eddy-bridge generate FILE.rs --go FOLDER`.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, folder, package) = match arguments[..] {
        ["generate", file, "--go", folder] => (file, folder, None),
        ["generate", file, "--go", folder, "--package", package] => (file, folder, Some(package)),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match eddy_bridge_gen::generate(file, folder, package) {
        Ok(written) => {
            say(&format!("{}\n", written.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    // With standard error closed, the message cannot be shown.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

const USAGE: &str = "\
eddy-bridge generate FILE.rs --go FOLDER [--package NAME]

Writes FOLDER/NAME_bridge.go for the traits in FILE.rs with #[eddy_bridge::go] or #[eddy_bridge::rust]; NAME is the
name of FILE.rs without its extension. The package is named after FOLDER unless --package is given.
";
