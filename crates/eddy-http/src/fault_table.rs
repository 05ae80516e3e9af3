//! Macro for tables of reasons why a message is rejected.

/// Declares reasons for rejecting a message, each with the status for a request and the reason code.
macro_rules! fault_table {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $status:literal, $reason:literal;)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$inner])* $variant,)* }

        impl $name {
            /// Returns the status for the rejected request, if a response is still possible.
            ///
            /// A rejected response is answered 502, or cut off, whatever this returns.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Returns the reason code for access log entries and metrics.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$variant => $reason,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.reason())
            }
        }

        impl std::error::Error for $name {}
    };
}

pub(crate) use fault_table;
