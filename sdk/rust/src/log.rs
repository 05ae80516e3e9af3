//! Records in eddy's log.

use std::fmt;

use crate::abi;
use crate::host;

/// How much a record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Level {
    /// Every step.
    Trace = abi::TRACE,
    /// What helps to find a fault.
    Debug = abi::DEBUG,
    /// What an operator may want to know.
    Info = abi::INFO,
    /// What an operator should look at.
    Warn = abi::WARN,
    /// What failed.
    Error = abi::ERROR,
}

/// What knows which filter it belongs to, so that a record can say whose it is.
pub trait LogTarget {
    /// The host's number of the filter.
    fn filter_id(&self) -> u32;

    /// Writes a record where the level is logged. The macros [`crate::info!`] and its like are the short form.
    ///
    /// The host drops and counts what goes beyond 1,000 records a second and filter.
    ///
    /// # Cost
    /// Nothing is formatted below the level that is logged.
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

/// Writes a record of level trace: `trace!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! trace {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Trace, ::core::format_args!($($text)+))
    };
}

/// Writes a record of level debug: `debug!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! debug {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Debug, ::core::format_args!($($text)+))
    };
}

/// Writes a record of level info: `info!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! info {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Info, ::core::format_args!($($text)+))
    };
}

/// Writes a record of level warn: `warn!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! warn {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Warn, ::core::format_args!($($text)+))
    };
}

/// Writes a record of level error: `error!(x, "{} bytes", len)`.
#[macro_export]
macro_rules! error {
    ($target:expr, $($text:tt)+) => {
        $crate::LogTarget::log(&$target, $crate::Level::Error, ::core::format_args!($($text)+))
    };
}
