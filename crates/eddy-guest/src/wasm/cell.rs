//! State of a module on one worker: one VM, or one per exchange, and its streams.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_filter::{
    Direction, EndedExchange, ExchangeView, FilterInvocation, FilterLogLevel, LibraryCall, Phase, StreamPart,
    Verdict,
};
use proxy_wasm_host::abi::{Action, Callback};
use proxy_wasm_host::{CallId, ContextId, ModuleFault, QueueId, Rest, Vm};
use slab::Slab;

use super::embedding::{
    CallAnswer, CallToken, Embedding, GrpcDelivery, PausedMessage, Plugin, RequestedActions,
};
use super::machine::{CallbackFailure, PluginVm, StreamPhaseView};
use super::module::ModuleShared;
use super::settings::Isolation;
use super::standby_instances::StandbyInstances;
use crate::failure::GuestFailure;
use crate::guest::index_of;
use crate::message_view::MessageSection;
use crate::steps::enter_steps;

/// State of a module on one worker.
#[derive(Default)]
pub(super) struct WorkerInstance {
    worker: u16,
    /// VM of the worker, if exchanges share one.
    machine: Option<PluginVm>,
    /// Counts the VMs.
    generation: u32,
    /// Reason of the last VM failure.
    last_fault: GuestFailure,
    streams: Slab<WasmStream>,
    /// Streams by the generation of their VM, if each has its own.
    owners: HashMap<u32, usize>,
}

/// Module that a worker runs, and its standby VM.
#[derive(Clone, Copy)]
pub(super) struct ModuleContext<'m> {
    pub(super) kernel: &'m ModuleShared,
    pub(super) spares: &'m StandbyInstances,
}

/// Exchange in a module.
struct WasmStream {
    context: ContextId,
    plugin: Arc<Plugin>,
    /// Generation of the stream's VM.
    generation: u32,
    /// VM of the stream, if it has its own.
    machine: Option<Box<PluginVm>>,
    /// By direction, whether the head is held until the whole body has arrived.
    is_held: [bool; 2],
    /// By direction, whether a piece of the body before the last has been passed on.
    has_passed: [bool; 2],
}

impl WorkerInstance {
    /// Installs a VM for this worker.
    pub(super) fn adopt(&mut self, kernel: &ModuleShared, worker: u16, mut machine: PluginVm) {
        self.worker = worker;
        self.generation = self.generation.wrapping_add(1);
        machine.adopt(worker, self.generation);
        machine.settle(kernel);
        self.machine = Some(machine);
    }

    /// Starts a plugin in the VM, if there is one.
    pub(super) fn add(&mut self, kernel: &ModuleShared, plugin: &Arc<Plugin>) -> Result<(), GuestFailure> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        machine.add(kernel, plugin)?;
        machine.settle(kernel);
        Ok(())
    }

    /// Enters the filters of a call.
    pub(super) fn run(&mut self, module: ModuleContext<'_>, call: &mut LibraryCall<'_>) {
        self.worker = call.worker;
        for ended in call.ended {
            self.end(module, ended);
        }
        enter_steps(call, |call, view, step, position| self.enter(module, call, view, step, position));
    }

    /// Enters one filter.
    fn enter(
        &mut self,
        module: ModuleContext<'_>,
        call: &mut LibraryCall<'_>,
        view: &ExchangeView<'_>,
        step: &mut FilterInvocation,
        position: u16,
    ) -> Result<Verdict, GuestFailure> {
        if step.state == 0 {
            if view.phase == Phase::Log {
                return Ok(Verdict::Continue);
            }
            let number = if step.config == 0 { step.filter } else { step.config };
            let plugin = module.kernel.plugin(number).ok_or("it is not a filter of the module")?;
            step.state = self.begin(module, plugin)?;
        }
        let key = index_of(step.state).ok_or("its stream state is lost")?;
        let stream = self.streams.get_mut(key).ok_or("its stream state is lost")?;
        let machine = match &mut stream.machine {
            Some(machine) => &mut **machine,
            None => match &mut self.machine {
                Some(machine) if stream.generation == self.generation => machine,
                _ if view.phase == Phase::Log => return Ok(Verdict::Continue),
                _ => {
                    let why = format!("its instance has failed: {}", self.last_fault);
                    return Err(self.last_fault.with_message(why));
                }
            },
        };
        let direction = view.phase.direction();
        let is_held = stream.is_held[direction as usize];
        let is_body = matches!(view.phase, Phase::RequestBody | Phase::ResponseBody);
        let is_last = view.is_buffered || view.is_last_piece();
        let has_passed = stream.has_passed[direction as usize];
        let shown = StreamPhaseView {
            view,
            edits: call.edits,
            step: position,
            is_head_open: is_held && view.is_buffered,
            is_body_whole: is_body && is_last && !has_passed,
        };
        let (context, exchange, turn) = (stream.context, call.exchange, call.turn);
        machine.embedding().exchange = Some(exchange);
        if view.phase == Phase::Log {
            let plugin = Arc::clone(&stream.plugin);
            let ended = machine.enter_with(shown, &plugin, context, |vm| vm.end(context), |_, _| ());
            machine_settle(machine, module.kernel, &ended);
            step.state = 0;
            if let Some(mut own) = self.take(key).and_then(|stream| stream.machine) {
                own.stop(std::slice::from_ref(&plugin));
            }
            return self.discard_failed_vm(module, plugin.id, ended, None).map(|()| Verdict::Continue);
        }
        let is_body_wanted = module.kernel.image.module().has(match direction {
            Direction::Request => Callback::RequestBody,
            Direction::Response => Callback::ResponseBody,
        });
        let entered = machine.enter_with(
            shown,
            &stream.plugin,
            context,
            |vm| call_back(vm, context, view),
            |embedding, action| {
                let has_calls = embedding.has_calls(context);
                let verdict =
                    verdict_of(action, embedding.requested_actions, view, has_calls, is_body_wanted);
                if verdict == Verdict::Pause
                    && let Some(message_view) = embedding.message_view.keep()
                {
                    embedding.waiting.push(PausedMessage {
                        stream: context,
                        direction,
                        exchange,
                        turn,
                        message_view,
                        decision: None,
                    });
                }
                verdict
            },
        );
        if let Ok(Verdict::Buffer) = entered
            && matches!(view.phase, Phase::RequestHead | Phase::ResponseHead)
        {
            stream.is_held[direction as usize] = true;
        }
        if is_body && !is_last && !matches!(entered, Ok(Verdict::Buffer)) {
            stream.has_passed[direction as usize] = true;
        }
        machine_settle(machine, module.kernel, &entered);
        let is_own = stream.machine.is_some();
        self.discard_failed_vm(module, step.id, entered, is_own.then_some(key))
    }

    /// Creates a stream and returns the state that represents it.
    fn begin(&mut self, module: ModuleContext<'_>, plugin: Arc<Plugin>) -> Result<u64, GuestFailure> {
        let kernel = module.kernel;
        let number = plugin.number;
        let (context, machine) = match kernel.isolation {
            Isolation::Stream => {
                let mut machine = Box::new(PluginVm::start(kernel, std::slice::from_ref(&plugin))?);
                self.generation = self.generation.wrapping_add(1);
                machine.adopt(self.worker, self.generation);
                let root = machine.root(number).ok_or("its plugin is missing")?;
                let created = machine.enter(&plugin, None, |vm| vm.create_stream(root));
                let context = created.map_err(|broken| broken.why)?;
                self.owners.insert(self.generation, self.streams.vacant_key());
                (context, Some(machine))
            }
            Isolation::Worker => {
                if self.machine.is_none() {
                    let machine = module.spares.take(self.worker)?;
                    self.adopt(kernel, self.worker, machine);
                }
                let machine = self.machine.as_mut().ok_or("the module has no instance")?;
                let root = machine.root(number).ok_or("its plugin is missing")?;
                let created = machine.enter(&plugin, None, |vm| vm.create_stream(root));
                let context = self.discard_failed_vm(module, plugin.id, created, None)?;
                (context, None)
            }
        };
        let generation = self.generation;
        let stream =
            WasmStream { context, plugin, generation, machine, is_held: [false; 2], has_passed: [false; 2] };
        Ok(self.streams.insert(stream) as u64 + 1)
    }

    /// Removes a stream and the mapping of its VM, so that responses to its calls do not reach the next stream in its
    /// slot.
    fn take(&mut self, key: usize) -> Option<WasmStream> {
        let stream = self.streams.try_remove(key)?;
        if !self.owners.is_empty() {
            self.owners.remove(&stream.generation);
        }
        Some(stream)
    }

    /// Ends all streams and VMs, with their callbacks.
    pub(super) fn stop(&mut self, plugins: &[Arc<Plugin>]) {
        for stream in self.streams.drain() {
            let context = stream.context;
            let is_shared = stream.machine.is_none() && stream.generation == self.generation;
            let shared = self.machine.as_mut().filter(|_| is_shared);
            let mut own = stream.machine;
            if let Some(machine) = own.as_deref_mut().or(shared) {
                // A failure does not matter, because the VM ends anyway.
                let _ = machine.enter(&stream.plugin, None, |vm| vm.end(context));
            }
            if let Some(mut machine) = own {
                machine.stop(plugins);
            }
        }
        self.owners.clear();
        if let Some(mut machine) = self.machine.take() {
            self.generation = self.generation.wrapping_add(1);
            machine.stop(plugins);
        }
    }

    /// Ends an exchange that did not reach the log phase.
    fn end(&mut self, module: ModuleContext<'_>, ended: &EndedExchange) {
        let Some(stream) = index_of(ended.state).and_then(|key| self.take(key)) else { return };
        let context = stream.context;
        if let Some(mut machine) = stream.machine {
            // A failure does not matter, because the VM ends anyway.
            let _ = machine.enter(&stream.plugin, None, |vm| vm.end(context));
            machine.stop(std::slice::from_ref(&stream.plugin));
            return;
        }
        let Some(machine) = self.machine.as_mut().filter(|_| stream.generation == self.generation) else {
            return;
        };
        let ended = machine.enter(&stream.plugin, None, |vm| vm.end(context));
        machine_settle(machine, module.kernel, &ended);
        // The exchange has ended, so there is no verdict to return.
        let _ = self.discard_failed_vm(module, stream.plugin.id, ended, None);
    }

    /// Delivers the response to a plugin's call.
    pub(super) fn deliver(&mut self, module: ModuleContext<'_>, token: CallToken, answer: CallAnswer) {
        let own = self.owners.get(&token.generation).copied();
        let stream = own.and_then(|key| self.streams.get_mut(key));
        debug_assert!(stream.as_ref().is_none_or(|stream| stream.generation == token.generation));
        let machine = match stream.and_then(|stream| stream.machine.as_deref_mut()) {
            Some(machine) => Some(machine),
            None => self.machine.as_mut().filter(|_| token.generation == self.generation),
        };
        let Some(machine) = machine else { return };
        let (count, body_len) = (answer.count(), answer.body_len());
        let Some(plugin) = machine.embedding().take_answer(token.call, answer) else { return };
        let Some(root) = machine.root(plugin.number) else { return };
        let told = machine.enter(&plugin, None, |vm| {
            vm.on_http_call_response(root, CallId(token.call), count, body_len, 0)
        });
        if !told.as_ref().is_err_and(|broken| broken.is_lost) {
            machine.embedding().drop_response();
        }
        machine_settle(machine, module.kernel, &told);
        let id = plugin.id;
        self.report(module, id, told, own);
    }

    /// Delivers a part of the response to a plugin's gRPC call.
    pub(super) fn deliver_grpc(&mut self, module: ModuleContext<'_>, token: CallToken, part: StreamPart<'_>) {
        let own = self.owners.get(&token.generation).copied();
        let stream = own.and_then(|key| self.streams.get_mut(key));
        let machine = match stream.and_then(|stream| stream.machine.as_deref_mut()) {
            Some(machine) => Some(machine),
            None => self.machine.as_mut().filter(|_| token.generation == self.generation),
        };
        let Some(machine) = machine else { return };
        let Some(plugin) = machine.embedding().grpc_plugin(token.call) else { return };
        let told = machine.deliver_grpc(&plugin, token.call, part);
        if !told.as_ref().is_err_and(|broken| broken.is_lost) {
            machine.embedding().grpc_delivery = GrpcDelivery::default();
        }
        machine_settle(machine, module.kernel, &told);
        self.report(module, plugin.id, told, own);
    }

    /// Delivers a tick to a plugin.
    pub(super) fn tick(
        &mut self,
        module: ModuleContext<'_>,
        generation: u32,
        plugin: &Arc<Plugin>,
        turn: u8,
    ) {
        let Some(machine) = self.machine.as_mut().filter(|_| generation == self.generation) else { return };
        let ticked = machine.tick(module.kernel, plugin, turn);
        self.report(module, plugin.id, ticked, None);
    }

    /// Notifies a plugin of an item in its queue.
    pub(super) fn queue_ready(&mut self, module: ModuleContext<'_>, plugin: &Arc<Plugin>, queue: QueueId) {
        let Some(machine) = &mut self.machine else { return };
        let Some(root) = machine.root(plugin.number) else { return };
        let told = machine.enter(plugin, None, |vm| vm.on_queue_ready(root, queue));
        machine_settle(machine, module.kernel, &told);
        self.report(module, plugin.id, told, None);
    }

    /// Logs the failure of a callback that belongs to no exchange.
    fn report(
        &mut self,
        module: ModuleContext<'_>,
        id: u32,
        done: Result<(), CallbackFailure>,
        own: Option<usize>,
    ) {
        if let Err(why) = self.discard_failed_vm(module, id, done, own) {
            // Messages beyond the filter's log limit are dropped.
            let _ = module.kernel.common.host.log(id, FilterLogLevel::Error, why.why.as_bytes());
        }
    }

    /// Drops the VM that failed in a callback of this filter: a stream's own, or the worker's.
    fn discard_failed_vm<T>(
        &mut self,
        module: ModuleContext<'_>,
        filter: u32,
        done: Result<T, CallbackFailure>,
        own: Option<usize>,
    ) -> Result<T, GuestFailure> {
        let broken = match done {
            Ok(answer) => return Ok(answer),
            Err(broken) => broken,
        };
        if !broken.is_fatal {
            return Err(broken.why);
        }
        let common = &module.kernel.common;
        common.metrics.count_failure(&*common.host, self.worker.into(), filter);
        let machine = match own {
            Some(key) => {
                self.streams.get_mut(key).and_then(|stream| stream.machine.take()).map(|machine| *machine)
            }
            None => {
                self.generation = self.generation.wrapping_add(1);
                self.last_fault.clone_from(&broken.why);
                module.spares.note_failure(&broken.why);
                self.machine.take()
            }
        };
        if let Some(mut machine) = machine.filter(|_| !broken.is_lost) {
            machine.embedding().give_up(&broken.why);
        }
        Err(broken.why)
    }
}

/// Performs the deferred requests of a module, if its VM has not failed.
fn machine_settle<T>(machine: &mut PluginVm, kernel: &ModuleShared, done: &Result<T, CallbackFailure>) {
    if !done.as_ref().is_err_and(|failure| failure.is_fatal) {
        machine.settle(kernel);
    }
}

/// Calls the callback of a phase.
fn call_back(
    vm: &mut Vm<Embedding>,
    context: ContextId,
    view: &ExchangeView<'_>,
) -> Result<Action, ModuleFault> {
    let rest = Rest::of_end(view.is_end && !vm.host().message_view.has_new_trailers);
    match view.phase {
        Phase::RequestHead => {
            let count = vm.host().message_view.count(MessageSection::Request);
            vm.on_request_headers(context, count, rest)
        }
        Phase::RequestBody => {
            let size = body_len(vm.host(), view);
            vm.on_request_body(context, size, rest)
        }
        Phase::RequestTrailers => {
            let count = vm.host().message_view.count(MessageSection::RequestTrailers);
            vm.on_request_trailers(context, count)
        }
        Phase::ResponseHead => {
            let count = vm.host().message_view.count(MessageSection::Response);
            vm.on_response_headers(context, count, rest)
        }
        Phase::ResponseBody => {
            let size = body_len(vm.host(), view);
            vm.on_response_body(context, size, rest)
        }
        Phase::ResponseTrailers => {
            let count = vm.host().message_view.count(MessageSection::ResponseTrailers);
            vm.on_response_trailers(context, count)
        }
        Phase::Log | Phase::End => Ok(Action::Continue),
    }
}

/// Converts a callback's action to a verdict.
fn verdict_of(
    action: Action,
    requested_actions: RequestedActions,
    view: &ExchangeView<'_>,
    has_calls: bool,
    is_body_wanted: bool,
) -> Verdict {
    if requested_actions.is_reset {
        return Verdict::Reset;
    }
    if requested_actions.is_replied {
        return Verdict::Reply;
    }
    let goes_on = requested_actions.goes_on[view.phase.direction() as usize];
    if action == Action::Continue || goes_on {
        return Verdict::Continue;
    }
    let may_collect = !view.is_end && !view.is_buffered && !has_calls;
    match view.phase {
        // The module waits for the body and then gets all of it.
        Phase::RequestHead | Phase::ResponseHead
            if may_collect && is_body_wanted && action == Action::Pause =>
        {
            Verdict::Buffer
        }
        Phase::RequestBody | Phase::ResponseBody if may_collect => Verdict::Buffer,
        Phase::RequestHead
        | Phase::RequestBody
        | Phase::RequestTrailers
        | Phase::ResponseHead
        | Phase::ResponseBody
        | Phase::ResponseTrailers
        | Phase::Log
        | Phase::End => Verdict::Pause,
    }
}

fn body_len(embedding: &Embedding, view: &ExchangeView<'_>) -> usize {
    embedding.message_view.body(view.phase).map_or(0, <[u8]>::len)
}
