//! Macro for enumerations with ABI numbers.

/// Declares an enumeration with its ABI numbers and conversions in both directions.
macro_rules! wire_enum {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum $name { $($(#[$inner])* $variant = $number,)* }

        impl $name {
            /// All variants, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the variant with this number.
            pub const fn from_wire(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the ABI number.
            pub const fn wire(self) -> u32 {
                self as u32
            }
        }
    };
}

pub(crate) use wire_enum;
