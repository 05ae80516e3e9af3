//! Services that this program or library offers to Go.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::bind::{ABSENT, BOUND, Bind, DIFFERENT, MethodEntryPoint, OTHER_VERSION};
use crate::go::ABI;
use crate::served::ServiceImplementation;
use crate::tasks;

/// Offers a service to Go in this process; generated code makes it from an implementation. It can't be withdrawn.
///
/// # Panics
///
/// If a service of this name is already offered, possibly with calls in flight.
pub fn offer(served: ServiceImplementation) {
    let mut offered = OFFERED.lock().unwrap_or_else(PoisonError::into_inner);
    let name = served.name;
    let context = Arc::into_raw(served.implementation).cast::<()>().expose_provenance() as u64;
    let service = Offered { shape: served.shape, entries: served.entries.leak(), context };
    assert!(offered.insert(name, service).is_none(), "the service `{name}` is offered twice");
}

/// Exports a Rust library to Go programs: its services are offered when Go first binds one.
///
/// ```
/// # fn serve() {}
/// eddy_bridge::export! { serve() }
/// ```
#[macro_export]
macro_rules! export {
    ($($offer:expr);* $(;)?) => {
        /// Binds a service for Go. The bridge's Go package looks this name up.
        ///
        /// # Safety
        ///
        /// The pointer is to a question as the bridge's Go package asks it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn eddy_bridge_rust_bind(bind: *mut ::core::ffi::c_void) -> usize {
            static OFFER: ::std::sync::Once = ::std::sync::Once::new();
            OFFER.call_once(|| {
                $($offer;)*
            });
            // SAFETY: the caller guarantees the requirements.
            unsafe { $crate::bind_for_go(bind) }
        }
    };
}

/// Handles a bind request of Go. Used by [`export!`].
///
/// # Safety
///
/// The pointer is to a bind request of the bridge's Go package.
pub unsafe fn bind_for_go(question: *mut std::ffi::c_void) -> usize {
    // SAFETY: the caller promises a bind request.
    unsafe { bind(question.cast()) }
}

/// Handles a bind request of Go.
///
/// # Safety
///
/// The pointer is to a bind request that nothing else uses until this returns.
pub(crate) unsafe extern "C" fn bind(question: *mut Bind) -> usize {
    // SAFETY: the caller promises a bind request, which is ours until this returns.
    let question = unsafe { &mut *question };
    if question.outcome != ABI {
        question.outcome = OTHER_VERSION;
        question.number = ABI;
        return 0;
    }
    tasks::set_complete(question.complete);
    let offered = OFFERED.lock().unwrap_or_else(PoisonError::into_inner);
    let service = std::str::from_utf8(question.name()).ok().and_then(|name| offered.get(name));
    let Some(service) = service else {
        question.outcome = ABSENT;
        return 0;
    };
    question.outcome = if service.shape == question.shape { BOUND } else { DIFFERENT };
    question.shape = service.shape;
    question.entries = ptr::from_ref(service.entries).cast::<()>().expose_provenance() as u64;
    question.entries_len = service.entries.len() as u64;
    question.context = service.context;
    let cancel: unsafe extern "C" fn(*mut u64) -> usize = tasks::cancel;
    question.cancel = cancel as usize as u64;
    0
}

/// A service that Go may call until the process ends.
struct Offered {
    shape: u64,
    entries: &'static [MethodEntryPoint],
    /// Address of the implementation, whose reference count is never released.
    context: u64,
}

static OFFERED: Mutex<BTreeMap<&'static str, Offered>> = Mutex::new(BTreeMap::new());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_with_another_version_gets_an_error() {
        let mut question = Bind::of("Any", 0).unwrap();
        question.outcome = ABI - 1;
        // SAFETY: it is a bind request, and nothing else uses it.
        unsafe { bind(&raw mut question) };
        assert_eq!((question.outcome, question.number), (OTHER_VERSION, ABI));
        question.outcome = ABI;
        // SAFETY: as above.
        unsafe { bind(&raw mut question) };
        assert_eq!(question.outcome, ABSENT);
    }
}
