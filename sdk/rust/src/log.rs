//! Messages in eddy's log.

use std::fmt;

use crate::abi;
use crate::host;

/// Severity of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Level {
    /// Every step.
    Trace = abi::TRACE,
    /// Information for debugging.
    Debug = abi::DEBUG,
    /// Information for operators.
    Info = abi::INFO,
    /// A condition that an operator should check.
    Warn = abi::WARN,
    /// A failure.
    Error = abi::ERROR,
}

/// A type that belongs to a filter, so that log messages can name it.
pub trait LogTarget {
    /// Returns the host's number of the filter.
    fn filter_id(&self) -> u32;

    /// Writes a log message if the level is enabled. The macros [`crate::info!`] etc. are shorter.
    ///
    /// The host drops and counts messages above 1,000 per second and filter.
    ///
    /// # Cost
    /// Messages below the enabled level are not formatted.
    fn log(&self, level: Level, text: fmt::Arguments<'_>) {
        let is_logged = host::host().is_some_and(|host| level as u32 >= host.level);
        if !is_logged {
            return;
        }
        match text.as_str() {
            Some(text) => host::log(self.filter_id(), level as u32, text),
            None => host::log(self.filter_id(), level as u32, &text.to_string()),
        }
    }
}

impl<T: LogTarget + ?Sized> LogTarget for &T {
    fn filter_id(&self) -> u32 {
        (**self).filter_id()
    }
}

impl<T: LogTarget + ?Sized> LogTarget for &mut T {
    fn filter_id(&self) -> u32 {
        (**self).filter_id()
    }
}

/// Logs a message of level trace: `trace!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! trace {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Trace, ::core::format_args!($($text)+))
    };
}

/// Logs a message of level debug: `debug!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! debug {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Debug, ::core::format_args!($($text)+))
    };
}

/// Logs a message of level info: `info!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! info {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Info, ::core::format_args!($($text)+))
    };
}

/// Logs a message of level warn: `warn!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! warn {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Warn, ::core::format_args!($($text)+))
    };
}

/// Logs a message of level error: `error!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! error {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Error, ::core::format_args!($($text)+))
    };
}
