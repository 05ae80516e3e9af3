//! Hooks of a module: functions that it exports.

use super::abi::{AbiBuffer, EnvoyPtr, Flag, Header, ModulePtr};

/// Hooks of a module. They are valid until the process ends, because no library is ever closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hooks {
    pub(super) config_new: ConfigNew,
    pub(super) config_destroy: Destroy,
    pub(super) route_config: Option<RouteConfigHooks>,
    pub(super) new: FilterNew,
    pub(super) destroy: Destroy,
    pub(super) request_headers: Data,
    pub(super) request_body: Data,
    pub(super) request_trailers: Trailers,
    pub(super) response_headers: Data,
    pub(super) response_body: Data,
    pub(super) response_trailers: Trailers,
    pub(super) stream_complete: Plain,
    pub(super) local_reply: Option<LocalReplyHook>,
    pub(super) scheduled: Option<Numbered>,
    pub(super) config_scheduled: Option<Numbered>,
    pub(super) of_filter: CallHooks,
    pub(super) of_config: CallHooks,
}

/// Hook of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum PhaseHook {
    Data(Data),
    Trailers(Trailers),
    Complete(Plain),
}

/// Hooks for the configuration of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteConfigHooks {
    pub(super) new: RouteConfigNew,
    pub(super) destroy: Destroy,
}

/// Hooks for outbound requests, of a filter's stream or of its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallHooks {
    pub(super) callout_done: Option<CalloutDone>,
    pub(super) headers: Option<StreamHeaders>,
    pub(super) data: Option<StreamData>,
    pub(super) complete: Option<Numbered>,
    pub(super) reset: Option<StreamReset>,
}

pub(super) type ProgramInit = unsafe extern "C" fn() -> *const std::ffi::c_char;
pub(super) type ConfigNew = unsafe extern "C" fn(EnvoyPtr, AbiBuffer, AbiBuffer) -> ModulePtr;
pub(super) type RouteConfigNew = unsafe extern "C" fn(AbiBuffer, AbiBuffer) -> ModulePtr;
pub(super) type Destroy = unsafe extern "C" fn(ModulePtr);
pub(super) type FilterNew = unsafe extern "C" fn(ModulePtr, EnvoyPtr) -> ModulePtr;
pub(super) type Data = unsafe extern "C" fn(EnvoyPtr, ModulePtr, Flag) -> u32;
pub(super) type Trailers = unsafe extern "C" fn(EnvoyPtr, ModulePtr) -> u32;
pub(super) type Plain = unsafe extern "C" fn(EnvoyPtr, ModulePtr);
pub(super) type Numbered = unsafe extern "C" fn(EnvoyPtr, ModulePtr, u64);
pub(super) type LocalReplyHook = unsafe extern "C" fn(EnvoyPtr, ModulePtr, u32, AbiBuffer, Flag) -> u32;
pub(super) type CalloutDone =
    unsafe extern "C" fn(EnvoyPtr, ModulePtr, u64, u32, *const Header, usize, *const AbiBuffer, usize);
pub(super) type StreamHeaders = unsafe extern "C" fn(EnvoyPtr, ModulePtr, u64, *const Header, usize, Flag);
pub(super) type StreamData = unsafe extern "C" fn(EnvoyPtr, ModulePtr, u64, *const AbiBuffer, usize, Flag);
pub(super) type StreamReset = unsafe extern "C" fn(EnvoyPtr, ModulePtr, u64, u32);
