//! Callbacks of a VM, one method each. All of them fail if the module fails, or failed before.

use std::sync::Arc;

use wasmtime::{WasmParams, WasmResults};

use crate::abi::{Action, Callback, PeerType};
use crate::fault::{ModuleFault, ModuleFaultKind, ModuleResult};
use crate::host::{Host, Rest};
use crate::ids::{CallId, ContextId, QueueId};

use super::exports::{Export, Exports};
use super::machine::Vm;

impl<H: Host> Vm<H> {
    /// Creates the context of a plugin.
    ///
    /// # Errors
    /// The module fails, or the maximum number of contexts is reached.
    pub fn create_plugin(&mut self) -> ModuleResult<ContextId> {
        self.create(None)
    }

    /// Creates the context of a stream of a plugin.
    ///
    /// # Errors
    /// The module fails, the plugin does not exist, or the maximum number of contexts is reached.
    pub fn create_stream(&mut self, plugin: ContextId) -> ModuleResult<ContextId> {
        let contexts = &self.store.data().contexts;
        let is_plugin = contexts.get(plugin).is_some_and(|context| context.plugin.is_none());
        if !is_plugin && self.fault.is_none() {
            let message = format!("plugin {} does not exist", plugin.0);
            return Err(ModuleFault::new(
                ModuleFaultKind::UnknownContext,
                Some(Callback::ContextCreate),
                message,
            ));
        }
        self.create(Some(plugin))
    }

    fn create(&mut self, plugin: Option<ContextId>) -> ModuleResult<ContextId> {
        let state = self.store.data_mut();
        let max = state.shared.limits.contexts_max;
        if state.contexts.len() >= max {
            let message = format!("the limit of {max} contexts is reached");
            return Err(ModuleFault::new(
                ModuleFaultKind::TooManyContexts,
                Some(Callback::ContextCreate),
                message,
            ));
        }
        let context = state.contexts.add(plugin);
        let parent = plugin.map_or(0, |plugin| plugin.0);
        self.call(context, |e| &mut e.context_create, (context.0, parent))?;
        Ok(context)
    }

    /// Ends a context: calls `on_done`, then `on_log` and `on_delete`. Returns `true` if the context is deleted,
    /// `false` if the module delays its end. In that case the other two callbacks follow automatically once the module
    /// is done, and [`Host::context_deleted`] is called.
    ///
    /// # Errors
    /// The module fails, or the context is a plugin that still has streams.
    pub fn end(&mut self, context: ContextId) -> ModuleResult<bool> {
        self.check_streams(context)?;
        // Marked as pending before the call, because the module may finish the context during it.
        if let Some(context) = self.store.data_mut().contexts.get_mut(context) {
            context.is_pending = true;
        }
        let is_done = self.call(context, |e| &mut e.done, (context.0,))?.is_none_or(|done| done != 0);
        if is_done && self.store.data().contexts.has(context) {
            self.delete(context)?;
        }
        Ok(!self.store.data().contexts.has(context))
    }

    /// Ends a context without calling `on_done`: calls `on_log` and `on_delete`.
    ///
    /// # Errors
    /// The module fails, or the context is a plugin that still has streams.
    pub fn delete(&mut self, context: ContextId) -> ModuleResult {
        self.check_streams(context)?;
        self.enter(context, |e| &mut e.log, (context.0,))?;
        self.enter(context, |e| &mut e.delete, (context.0,))?;
        let state = self.store.data_mut();
        state.contexts.remove(context);
        if let Some(host) = &mut state.host {
            host.context_deleted(context);
        }
        Ok(())
    }

    fn check_streams(&self, context: ContextId) -> ModuleResult {
        if self.store.data().contexts.has_streams(context) {
            let message = format!("plugin {} still has streams", context.0);
            return Err(ModuleFault::new(ModuleFaultKind::HasStreams, Some(Callback::Done), message));
        }
        Ok(())
    }

    /// Starts the VM for a plugin; returns `false` if the module refuses. The configuration can be read from then on.
    pub fn on_vm_start(
        &mut self,
        plugin: ContextId,
        configuration: impl Into<Arc<[u8]>>,
    ) -> ModuleResult<bool> {
        let configuration = configuration.into();
        let len = length(configuration.len());
        self.store.data_mut().vm_configuration = configuration;
        let started = self.call(plugin, |e| &mut e.vm_start, (plugin.0, len))?;
        Ok(started.is_none_or(|started| started != 0))
    }

    /// Configures a plugin; returns `false` if the module refuses. The configuration can be read from then on, also by
    /// the plugin's streams.
    pub fn on_configure(
        &mut self,
        plugin: ContextId,
        configuration: impl Into<Arc<[u8]>>,
    ) -> ModuleResult<bool> {
        let configuration = configuration.into();
        let len = length(configuration.len());
        if let Some(context) = self.store.data_mut().contexts.get_mut(plugin) {
            context.configuration = configuration;
        }
        let configured = self.call(plugin, |e| &mut e.configure, (plugin.0, len))?;
        Ok(configured.is_none_or(|configured| configured != 0))
    }

    /// Reports that a plugin's tick period has elapsed.
    pub fn on_tick(&mut self, plugin: ContextId) -> ModuleResult {
        self.call(plugin, |e| &mut e.tick, (plugin.0,)).map(drop)
    }

    /// Reports a new connection.
    pub fn on_new_connection(&mut self, stream: ContextId) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.new_connection, (stream.0,), PLAIN)
    }

    /// Reports data from the client, of which `size` bytes can be read.
    pub fn on_downstream_data(&mut self, stream: ContextId, size: usize, rest: Rest) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.downstream_data, arrival(stream, size, rest), PLAIN)
    }

    /// Reports that the client connection was closed.
    pub fn on_downstream_connection_close(&mut self, stream: ContextId, peer: PeerType) -> ModuleResult {
        self.call(stream, |e| &mut e.downstream_connection_close, (stream.0, peer.wire())).map(drop)
    }

    /// Reports data from the server, of which `size` bytes can be read.
    pub fn on_upstream_data(&mut self, stream: ContextId, size: usize, rest: Rest) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.upstream_data, arrival(stream, size, rest), PLAIN)
    }

    /// Reports that the server connection was closed.
    pub fn on_upstream_connection_close(&mut self, stream: ContextId, peer: PeerType) -> ModuleResult {
        self.call(stream, |e| &mut e.upstream_connection_close, (stream.0, peer.wire())).map(drop)
    }

    /// Reports the headers of a request. Modules built for 0.1.0 do not get `rest`.
    pub fn on_request_headers(
        &mut self,
        stream: ContextId,
        fields: usize,
        rest: Rest,
    ) -> ModuleResult<Action> {
        if self.is_without_end(Callback::RequestHeaders) {
            let params = (stream.0, length(fields));
            return self.ask(stream, |e| &mut e.request_headers_without_end, params, HEADERS);
        }
        self.ask(stream, |e| &mut e.request_headers, arrival(stream, fields, rest), HEADERS)
    }

    /// Reports a chunk of a request body, of which `size` bytes can be read.
    pub fn on_request_body(&mut self, stream: ContextId, size: usize, rest: Rest) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.request_body, arrival(stream, size, rest), BODY)
    }

    /// Reports the trailers of a request.
    pub fn on_request_trailers(&mut self, stream: ContextId, fields: usize) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.request_trailers, (stream.0, length(fields)), PLAIN)
    }

    /// Reports the headers of a response. Modules built for 0.1.0 do not get `rest`.
    pub fn on_response_headers(
        &mut self,
        stream: ContextId,
        fields: usize,
        rest: Rest,
    ) -> ModuleResult<Action> {
        if self.is_without_end(Callback::ResponseHeaders) {
            let params = (stream.0, length(fields));
            return self.ask(stream, |e| &mut e.response_headers_without_end, params, HEADERS);
        }
        self.ask(stream, |e| &mut e.response_headers, arrival(stream, fields, rest), HEADERS)
    }

    /// Reports a chunk of a response body, of which `size` bytes can be read.
    pub fn on_response_body(&mut self, stream: ContextId, size: usize, rest: Rest) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.response_body, arrival(stream, size, rest), BODY)
    }

    /// Reports the trailers of a response.
    pub fn on_response_trailers(&mut self, stream: ContextId, fields: usize) -> ModuleResult<Action> {
        self.ask(stream, |e| &mut e.response_trailers, (stream.0, length(fields)), PLAIN)
    }

    /// Reports the end of an HTTP call with its number of headers, body bytes and trailers; no headers if the call
    /// failed. The context is that of the caller or that of its plugin; hosts differ.
    pub fn on_http_call_response(
        &mut self,
        context: ContextId,
        call: CallId,
        fields: usize,
        body_size: usize,
        trailers: usize,
    ) -> ModuleResult {
        let params = (context.0, call.0, length(fields), length(body_size), length(trailers));
        self.call(context, |e| &mut e.http_call_response, params).map(drop)
    }

    /// Reports the initial metadata of a gRPC call.
    pub fn on_grpc_receive_initial_metadata(
        &mut self,
        context: ContextId,
        call: CallId,
        pairs: usize,
    ) -> ModuleResult {
        self.call(context, |e| &mut e.grpc_receive_initial_metadata, (context.0, call.0, length(pairs)))
            .map(drop)
    }

    /// Reports a message of a gRPC call.
    pub fn on_grpc_receive(&mut self, context: ContextId, call: CallId, size: usize) -> ModuleResult {
        self.call(context, |e| &mut e.grpc_receive, (context.0, call.0, length(size))).map(drop)
    }

    /// Reports the trailing metadata of a gRPC call.
    pub fn on_grpc_receive_trailing_metadata(
        &mut self,
        context: ContextId,
        call: CallId,
        pairs: usize,
    ) -> ModuleResult {
        self.call(context, |e| &mut e.grpc_receive_trailing_metadata, (context.0, call.0, length(pairs)))
            .map(drop)
    }

    /// Reports the end of a gRPC call with its status.
    pub fn on_grpc_close(&mut self, context: ContextId, call: CallId, status: u32) -> ModuleResult {
        let params = (context.0, call.0, status);
        self.call(context, |e| &mut e.grpc_close, params).map(drop)
    }

    /// Reports an item in a queue that this plugin registered.
    pub fn on_queue_ready(&mut self, plugin: ContextId, queue: QueueId) -> ModuleResult {
        self.call(plugin, |e| &mut e.queue_ready, (plugin.0, queue.0)).map(drop)
    }

    /// Calls a foreign function of the module by its number. The module can read the arguments until it returns.
    pub fn on_foreign_function(
        &mut self,
        context: ContextId,
        function: u32,
        arguments: &[u8],
    ) -> ModuleResult {
        if !self.has(Callback::ForeignFunction) {
            return Ok(());
        }
        self.store.data_mut().foreign_arguments = Arc::from(arguments);
        let params = (context.0, function, length(arguments.len()));
        let result = self.call(context, |e| &mut e.foreign_function, params);
        self.store.data_mut().foreign_arguments = Arc::default();
        result.map(drop)
    }

    /// Enters a callback that returns one of these actions.
    fn ask<P: WasmParams>(
        &mut self,
        context: ContextId,
        export: impl Fn(&mut Exports) -> &mut Export<P, u32>,
        params: P,
        meanings: &[Action],
    ) -> ModuleResult<Action> {
        let Some(number) = self.call(context, &export, params)? else { return Ok(Action::Continue) };
        let meaning = usize::try_from(number).ok().and_then(|index| meanings.get(index));
        meaning.copied().ok_or_else(|| {
            let callback = export(&mut self.exports).callback;
            self.bad_return(callback, number)
        })
    }

    /// Enters a callback, then deletes the contexts that were finished during it.
    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        context: ContextId,
        export: impl Fn(&mut Exports) -> &mut Export<P, R>,
        params: P,
    ) -> ModuleResult<Option<R>> {
        let answer = self.enter(context, export, params)?;
        self.finish()?;
        Ok(answer)
    }

    /// Deletes the contexts that the module finished during a callback.
    fn finish(&mut self) -> ModuleResult {
        while let Some(context) = self.store.data_mut().contexts.take_done() {
            self.delete(context)?;
        }
        Ok(())
    }

    fn is_without_end(&self, callback: Callback) -> bool {
        self.module().found(callback).is_some_and(|found| found.signature.params == 2)
    }
}

/// Returns the parameters of a callback about data: stream, number of headers or bytes, and whether it is the end.
fn arrival(stream: ContextId, size: usize, rest: Rest) -> (u32, u32, u32) {
    (stream.0, length(size), u32::from(rest.is_end()))
}

fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

const PLAIN: &[Action] = &[Action::Continue, Action::Pause];
/// Actions of header callbacks. The C++ SDK and Higress' SDKs have more than two: stop iteration, continue and end the
/// stream, and two ways to stop all iteration.
const HEADERS: &[Action] =
    &[Action::Continue, Action::Pause, Action::Continue, Action::PauseAll, Action::PauseAll];
/// Actions of body callbacks. The C++ SDK has more than two: stop and buffer, with a watermark, and no buffer.
const BODY: &[Action] = &[Action::Continue, Action::Pause, Action::Pause, Action::Pause];
