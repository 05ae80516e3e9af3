//! Callback exports of a module, looked up on first use.

use wasmtime::{Instance, ModuleExport, Store, TypedFunc, WasmParams, WasmResults};

use crate::abi::Callback;
use crate::module::Module;

/// Optional export, resolved on first use.
pub(super) struct Export<P, R> {
    pub(super) callback: Callback,
    place: Option<ModuleExport>,
    function: Option<TypedFunc<P, R>>,
}

impl<P: WasmParams, R: WasmResults> Export<P, R> {
    /// Finds the export of a callback with this number of parameters.
    fn find(module: &Module, callback: Callback, params: usize) -> Self {
        let found = module.found(callback).filter(|found| found.signature.params == params);
        Self { callback, place: found.map(|found| found.export), function: None }
    }

    /// Returns the function, if the module has it.
    pub(super) fn get<T>(
        &mut self,
        instance: Instance,
        store: &mut Store<T>,
    ) -> wasmtime::Result<Option<&TypedFunc<P, R>>> {
        if self.function.is_none()
            && let Some(place) = &self.place
            && let Some(export) = instance.get_module_export(&mut *store, place)
            && let Some(function) = export.into_func()
        {
            self.function = Some(function.typed::<P, R>(&*store)?);
        }
        Ok(self.function.as_ref())
    }
}

/// Declares the exports with their callbacks and types.
macro_rules! exports {
    ($($name:ident: $callback:ident($($param:ty),*) -> $result:ty;)*) => {
        /// All callbacks with their types.
        pub(super) struct Exports { $(pub(super) $name: Export<($($param,)*), $result>,)* }

        impl Exports {
            pub(super) fn new(module: &Module) -> Self {
                Self { $($name: Export::find(module, Callback::$callback, [$(stringify!($param)),*].len()),)* }
            }
        }
    };
}

exports! {
    context_create: ContextCreate(u32, u32) -> ();
    done: Done(u32) -> u32;
    log: Log(u32) -> ();
    delete: Delete(u32) -> ();
    vm_start: VmStart(u32, u32) -> u32;
    configure: Configure(u32, u32) -> u32;
    tick: Tick(u32) -> ();
    new_connection: NewConnection(u32) -> u32;
    downstream_data: DownstreamData(u32, u32, u32) -> u32;
    downstream_connection_close: DownstreamConnectionClose(u32, u32) -> ();
    upstream_data: UpstreamData(u32, u32, u32) -> u32;
    upstream_connection_close: UpstreamConnectionClose(u32, u32) -> ();
    request_headers: RequestHeaders(u32, u32, u32) -> u32;
    request_headers_without_end: RequestHeaders(u32, u32) -> u32;
    request_body: RequestBody(u32, u32, u32) -> u32;
    request_trailers: RequestTrailers(u32, u32) -> u32;
    response_headers: ResponseHeaders(u32, u32, u32) -> u32;
    response_headers_without_end: ResponseHeaders(u32, u32) -> u32;
    response_body: ResponseBody(u32, u32, u32) -> u32;
    response_trailers: ResponseTrailers(u32, u32) -> u32;
    http_call_response: HttpCallResponse(u32, u32, u32, u32, u32) -> ();
    grpc_receive_initial_metadata: GrpcReceiveInitialMetadata(u32, u32, u32) -> ();
    grpc_receive: GrpcReceive(u32, u32, u32) -> ();
    grpc_receive_trailing_metadata: GrpcReceiveTrailingMetadata(u32, u32, u32) -> ();
    grpc_close: GrpcClose(u32, u32, u32) -> ();
    queue_ready: QueueReady(u32, u32) -> ();
    foreign_function: ForeignFunction(u32, u32, u32) -> ();
}
