//! Declaration of callbacks: functions that the program exports under their names in the ABI.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::dynamic_module::host;

/// Exported function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    /// Name in the ABI.
    pub(crate) name: &'static str,
    /// Address, which keeps the linker from dropping the function.
    pub(crate) address: ErasedFn,
}

/// Function whose signature is not known.
pub(super) type ErasedFn = unsafe extern "C" fn();

/// Returns a function without its signature.
pub(super) const fn erased(address: *const ()) -> ErasedFn {
    // SAFETY: every caller passes the address of a function; it is called through a pointer of its own type only.
    unsafe { std::mem::transmute::<*const (), ErasedFn>(address) }
}

/// Performs a callback; a panic of the host must not unwind into the module.
pub(super) fn guarded<R: Default>(perform: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(perform)).unwrap_or_default()
}

/// Zero for every result type that fits into registers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct ZeroResult {
    low: u64,
    high: u64,
}

/// Reports a call of a callback that is not for HTTP filters.
#[cold]
pub(super) fn refuse(name: &str) -> ZeroResult {
    host::log_error(&format!(
        "the module called {name}, which is not for HTTP filters; eddy answers nothing"
    ));
    ZeroResult { low: 0, high: 0 }
}

/// Declares callbacks of other extension kinds, and their list `CALLBACKS`.
///
/// A module calls them only from hooks of these kinds, which eddy never enters. A call is reported by its name and
/// answered with zero, which stands for "none" or "failed" in all of them.
macro_rules! others {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> $crate::dynamic_module::callbacks::table::ZeroResult {
                $crate::dynamic_module::callbacks::table::refuse(stringify!($name))
            }
        )*

        /// Callbacks of this file.
        pub(super) const CALLBACKS: &[$crate::dynamic_module::callbacks::table::Callback] = &[$(
            $crate::dynamic_module::callbacks::table::Callback {
                name: stringify!($name),
                address: $crate::dynamic_module::callbacks::table::erased($name as *const ()),
            }
        ),*];
    };
}

/// Declares callbacks, and their list `CALLBACKS`.
macro_rules! callbacks {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    )*) => {
        $(
            $(#[$attribute])*
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                $crate::dynamic_module::callbacks::table::guarded(move || $body)
            }
        )*

        /// Callbacks of this file.
        pub(super) const CALLBACKS: &[$crate::dynamic_module::callbacks::table::Callback] = &[$(
            $crate::dynamic_module::callbacks::table::Callback {
                name: stringify!($name),
                address: $crate::dynamic_module::callbacks::table::erased($name as *const ()),
            }
        ),*];
    };
}

pub(super) use {callbacks, others};
