//! Callback exports of a module, looked up on first use.

use wasmtime::{Instance, ModuleExport, Store, TypedFunc, WasmParams, WasmResults};

use crate::abi::Callback;
use crate::module::Module;

/// Optional export, resolved on first use.
pub(super) struct Export<P, R> {
    place: Option<ModuleExport>,
    function: Option<TypedFunc<P, R>>,
}

impl<P: WasmParams, R: WasmResults> Export<P, R> {
    fn at(place: Option<ModuleExport>) -> Self {
        Self { place, function: None }
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

/// All callbacks with their types.
pub(super) struct Exports {
    pub(super) context_create: Export<(u32, u32), ()>,
    pub(super) done: Export<u32, u32>,
    pub(super) log: Export<u32, ()>,
    pub(super) delete: Export<u32, ()>,
    pub(super) vm_start: Export<(u32, u32), u32>,
    pub(super) configure: Export<(u32, u32), u32>,
    pub(super) tick: Export<u32, ()>,
    pub(super) new_connection: Export<u32, u32>,
    pub(super) downstream_data: Export<(u32, u32, u32), u32>,
    pub(super) downstream_connection_close: Export<(u32, u32), ()>,
    pub(super) upstream_data: Export<(u32, u32, u32), u32>,
    pub(super) upstream_connection_close: Export<(u32, u32), ()>,
    pub(super) request_headers: Export<(u32, u32, u32), u32>,
    pub(super) request_headers_without_end: Export<(u32, u32), u32>,
    pub(super) request_body: Export<(u32, u32, u32), u32>,
    pub(super) request_trailers: Export<(u32, u32), u32>,
    pub(super) response_headers: Export<(u32, u32, u32), u32>,
    pub(super) response_headers_without_end: Export<(u32, u32), u32>,
    pub(super) response_body: Export<(u32, u32, u32), u32>,
    pub(super) response_trailers: Export<(u32, u32), u32>,
    pub(super) http_call_response: Export<(u32, u32, u32, u32, u32), ()>,
    pub(super) grpc_receive_initial_metadata: Export<(u32, u32, u32), ()>,
    pub(super) grpc_receive: Export<(u32, u32, u32), ()>,
    pub(super) grpc_receive_trailing_metadata: Export<(u32, u32, u32), ()>,
    pub(super) grpc_close: Export<(u32, u32, u32), ()>,
    pub(super) queue_ready: Export<(u32, u32), ()>,
    pub(super) foreign_function: Export<(u32, u32, u32), ()>,
}

impl Exports {
    pub(super) fn new(module: &Module) -> Self {
        let place = |callback| module.found(callback).map(|found| found.export);
        let place_of = |callback, params| {
            module.found(callback).filter(|found| found.signature.params == params).map(|found| found.export)
        };
        Self {
            context_create: Export::at(place(Callback::ContextCreate)),
            done: Export::at(place(Callback::Done)),
            log: Export::at(place(Callback::Log)),
            delete: Export::at(place(Callback::Delete)),
            vm_start: Export::at(place(Callback::VmStart)),
            configure: Export::at(place(Callback::Configure)),
            tick: Export::at(place(Callback::Tick)),
            new_connection: Export::at(place(Callback::NewConnection)),
            downstream_data: Export::at(place(Callback::DownstreamData)),
            downstream_connection_close: Export::at(place(Callback::DownstreamConnectionClose)),
            upstream_data: Export::at(place(Callback::UpstreamData)),
            upstream_connection_close: Export::at(place(Callback::UpstreamConnectionClose)),
            request_headers: Export::at(place_of(Callback::RequestHeaders, 3)),
            request_headers_without_end: Export::at(place_of(Callback::RequestHeaders, 2)),
            request_body: Export::at(place(Callback::RequestBody)),
            request_trailers: Export::at(place(Callback::RequestTrailers)),
            response_headers: Export::at(place_of(Callback::ResponseHeaders, 3)),
            response_headers_without_end: Export::at(place_of(Callback::ResponseHeaders, 2)),
            response_body: Export::at(place(Callback::ResponseBody)),
            response_trailers: Export::at(place(Callback::ResponseTrailers)),
            http_call_response: Export::at(place(Callback::HttpCallResponse)),
            grpc_receive_initial_metadata: Export::at(place(Callback::GrpcReceiveInitialMetadata)),
            grpc_receive: Export::at(place(Callback::GrpcReceive)),
            grpc_receive_trailing_metadata: Export::at(place(Callback::GrpcReceiveTrailingMetadata)),
            grpc_close: Export::at(place(Callback::GrpcClose)),
            queue_ready: Export::at(place(Callback::QueueReady)),
            foreign_function: Export::at(place(Callback::ForeignFunction)),
        }
    }
}
