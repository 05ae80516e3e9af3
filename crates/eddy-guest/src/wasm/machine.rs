//! Running VM of a module with the plugins of its library.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use eddy_filter::{EditLog, ExchangeView, StreamPart};
use eddy_ids::Millis;
use proxy_wasm_host::abi::Callback;
use proxy_wasm_host::{
    CallId, ContextId, Image, ModuleFault, ModuleFaultKind, Plugin as Configuration, PluginStartError,
    StartError, Vm,
};

use super::embedding::{Common, Embedding, Plugin};
use super::module::ModuleShared;
use super::token::WakeToken;
use crate::failure::GuestFailure;

/// VM with the plugins that were started in it.
pub(super) struct PluginVm {
    vm: Vm<Embedding>,
    /// Root contexts of the plugins.
    roots: Vec<PluginRootContext>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PluginRootContext {
    pub(super) number: usize,
    /// The host's number of the filter.
    pub(super) id: u32,
    pub(super) context: ContextId,
    /// Tick period, if the plugin requested ticks.
    pub(super) period: Option<Millis>,
    /// Counts the requested periods, so that ticks of an earlier one are ignored.
    pub(super) turn: u8,
}

impl PluginRootContext {
    /// Schedules the next tick of the plugin.
    fn arm(&self, kernel: &ModuleShared, worker: u16, generation: u32) {
        let Some(period) = self.period else { return };
        let Ok(plugin) = u16::try_from(self.number) else { return };
        let token = WakeToken::Tick { generation, plugin, turn: self.turn };
        // If the host cannot wake a worker, there are no ticks.
        let _ = kernel.wake(worker, period, token, self.id);
    }
}

/// Failure of a callback.
#[derive(Debug)]
pub(super) struct CallbackFailure {
    pub(super) why: GuestFailure,
    /// Whether the VM can no longer be used.
    pub(super) is_fatal: bool,
    /// Whether a host function panicked, so that the VM's host state is lost.
    pub(super) is_lost: bool,
}

/// View and edit log for a stream's callback.
pub(super) struct StreamPhaseView<'a> {
    pub(super) view: &'a ExchangeView<'a>,
    /// Log for new edits; edits that it already has are visible to the module.
    pub(super) edits: &'a mut EditLog,
    pub(super) step: u16,
    pub(super) is_head_open: bool,
    pub(super) is_body_whole: bool,
}

impl PluginVm {
    /// Starts a VM and its plugins.
    ///
    /// # Errors
    /// The reason of the failure, with the module's log messages.
    pub(super) fn start(kernel: &ModuleShared, plugins: &[Arc<Plugin>]) -> Result<Self, GuestFailure> {
        Self::start_in(&kernel.image, kernel, plugins)
    }

    /// As [`Self::start`], with this image in place of the library's.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub(super) fn start_in(
        image: &Image<Embedding>,
        kernel: &ModuleShared,
        plugins: &[Arc<Plugin>],
    ) -> Result<Self, GuestFailure> {
        let mut embedding = Embedding::new(Arc::clone(&kernel.common), kernel.shared.clone());
        embedding.current = plugins.first().map(Arc::clone);
        let vm = image.instantiate(embedding).map_err(|error| match error {
            StartError::Busy { .. } => error.to_string().into(),
            StartError::Limits { reason } => {
                GuestFailure::of_memory("wasm.memory", kernel.common.memory_bytes, &reason)
            }
            StartError::Fault(fault) => failure_of(&kernel.common, &fault),
        })?;
        let mut machine = Self { vm, roots: Vec::new() };
        plugins.iter().try_for_each(|plugin| machine.add(kernel, plugin))?;
        Ok(machine)
    }

    /// Starts another plugin.
    ///
    /// # Errors
    /// The reason of the failure, with the module's log messages.
    pub(super) fn add(&mut self, kernel: &ModuleShared, plugin: &Arc<Plugin>) -> Result<(), GuestFailure> {
        let embedding = self.vm.host_mut();
        embedding.is_starting = true;
        embedding.begin(plugin, None);
        let configuration = Configuration {
            vm_configuration: kernel.vm_config.clone(),
            configuration: plugin.configuration.clone(),
        };
        let started = catch_unwind(AssertUnwindSafe(|| self.vm.start_plugin(&configuration)));
        let context = match started {
            Ok(Ok(context)) => context,
            Ok(Err(refusal)) => {
                let said = std::mem::take(&mut self.vm.host_mut().said);
                let why = match refusal {
                    PluginStartError::VmStart => "it refuses its `vm_config`".into(),
                    PluginStartError::Configure => "it refuses its configuration".into(),
                    PluginStartError::Fault(fault) => failure_of(&kernel.common, &fault),
                };
                return Err(with_log_messages(why, &said));
            }
            Err(_) => return Err("internal error of eddy while the module was started".into()),
        };
        let embedding = self.vm.host_mut();
        embedding.own(context, plugin);
        embedding.started();
        self.roots.push(PluginRootContext {
            number: plugin.number,
            id: plugin.id,
            context,
            period: None,
            turn: 0,
        });
        Ok(())
    }

    /// Ends the plugins of the VM. A plugin that delays its end is deleted immediately.
    pub(super) fn stop(&mut self, plugins: &[Arc<Plugin>]) {
        for root in std::mem::take(&mut self.roots) {
            let Some(plugin) = plugins.iter().find(|plugin| plugin.number == root.number) else { continue };
            let ended = self.enter(plugin, None, |vm| match vm.end(root.context) {
                Ok(false) => vm.delete(root.context),
                Ok(true) => Ok(()),
                Err(fault) => Err(fault),
            });
            if ended.is_err_and(|broken| broken.is_fatal) {
                return;
            }
        }
    }

    /// Assigns the VM to a worker.
    pub(super) fn adopt(&mut self, worker: u16, generation: u32) {
        let embedding = self.vm.host_mut();
        (embedding.worker, embedding.generation) = (worker, generation);
    }

    pub(super) fn embedding(&mut self) -> &mut Embedding {
        self.vm.host_mut()
    }

    /// Returns the root context of a plugin.
    pub(super) fn root(&self, number: usize) -> Option<ContextId> {
        self.roots.iter().find(|root| root.number == number).map(|root| root.context)
    }

    /// Enters the module on behalf of a plugin, or of one of its streams.
    ///
    /// # Errors
    /// The failure of the callback.
    pub(super) fn enter<T>(
        &mut self,
        plugin: &Arc<Plugin>,
        stream: Option<ContextId>,
        call: impl FnOnce(&mut Vm<Embedding>) -> Result<T, ModuleFault>,
    ) -> Result<T, CallbackFailure> {
        self.vm.host_mut().begin(plugin, stream);
        match catch_unwind(AssertUnwindSafe(|| call(&mut self.vm))) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(fault)) => {
                let why = failure_of(&self.vm.host().common, &fault);
                Err(CallbackFailure { why, is_fatal: fault.is_fatal(), is_lost: false })
            }
            Err(_) => {
                let why = "internal error of eddy in a host function".into();
                Err(CallbackFailure { why, is_fatal: true, is_lost: true })
            }
        }
    }

    /// Enters the module with a view; the module's edits are appended to the log. `then` is called with the host state
    /// afterwards.
    ///
    /// # Errors
    /// The failure of the callback.
    pub(super) fn enter_with<T, U>(
        &mut self,
        shown: StreamPhaseView<'_>,
        plugin: &Arc<Plugin>,
        stream: ContextId,
        call: impl FnOnce(&mut Vm<Embedding>) -> Result<T, ModuleFault>,
        then: impl FnOnce(&mut Embedding, T) -> U,
    ) -> Result<U, CallbackFailure> {
        let StreamPhaseView { view, edits, step, is_head_open, is_body_whole } = shown;
        let message_view = &mut self.vm.host_mut().message_view;
        message_view.step = step;
        message_view.is_head_open = is_head_open;
        message_view.is_body_whole = is_body_whole;
        std::mem::swap(&mut message_view.edits, edits);
        // SAFETY: the view is borrowed for longer than this function, and nothing uses the message view between
        // `remove_view` below and the next time it is lent. If a host function panics meanwhile, the VM is never entered
        // again.
        unsafe { message_view.lend(view) };
        message_view.replay();
        let answer = match self.enter(plugin, Some(stream), call) {
            Err(broken) if broken.is_lost => return Err(broken),
            answer => answer,
        };
        let embedding = self.vm.host_mut();
        let answer = answer.map(|answer| then(embedding, answer));
        embedding.stream = None;
        embedding.message_view.remove_view();
        std::mem::swap(&mut embedding.message_view.edits, edits);
        answer
    }

    /// Delivers a part of the response to a plugin's gRPC call: all of a stream's response, but of a call with one message
    /// only that message, or the status if there is none, as Envoy does.
    ///
    /// # Errors
    /// The failure of a callback.
    pub(super) fn deliver_grpc(
        &mut self,
        plugin: &Arc<Plugin>,
        call: u32,
        part: StreamPart<'_>,
    ) -> Result<(), CallbackFailure> {
        let Some(root) = self.root(plugin.number) else { return Ok(()) };
        let Some(news) = self.embedding().take_grpc(call, part) else { return Ok(()) };
        let id = CallId(call);
        if let Some(metadata) = news.initial_metadata {
            let count = metadata.fields.len();
            self.embedding().grpc_delivery.metadata = metadata;
            self.enter(plugin, None, |vm| vm.on_grpc_receive_initial_metadata(root, id, count))?;
        }
        for message in news.messages {
            // The module may have cancelled the call in a callback.
            if !news.is_last && !self.embedding().has_grpc(call) {
                break;
            }
            let length = message.len();
            self.embedding().grpc_delivery.message = message;
            self.enter(plugin, None, |vm| vm.on_grpc_receive(root, id, length))?;
        }
        if let Some(metadata) = news.trailing_metadata {
            let count = metadata.fields.len();
            self.embedding().grpc_delivery.metadata = metadata;
            self.enter(plugin, None, |vm| vm.on_grpc_receive_trailing_metadata(root, id, count))?;
        }
        if let Some(outcome) = news.outcome {
            let code = outcome.code;
            self.embedding().grpc_delivery.outcome = Some(outcome);
            self.enter(plugin, None, |vm| vm.on_grpc_close(root, id, code))?;
        }
        Ok(())
    }

    /// Performs requests of the module that outlast its callback: resumes streams and schedules ticks.
    pub(super) fn settle(&mut self, kernel: &ModuleShared) {
        let embedding = self.vm.host_mut();
        embedding.go_on();
        while let Some((number, period)) = embedding.periods.pop() {
            let Some(root) = self.roots.iter_mut().find(|root| root.number == number) else { continue };
            root.period = period;
            root.turn = root.turn.wrapping_add(1);
            let (root, worker, generation) = (*root, embedding.worker, embedding.generation);
            root.arm(kernel, worker, generation);
        }
    }

    /// Delivers a tick to a plugin, unless it requested another period meanwhile.
    pub(super) fn tick(
        &mut self,
        kernel: &ModuleShared,
        plugin: &Arc<Plugin>,
        turn: u8,
    ) -> Result<(), CallbackFailure> {
        let root = self.roots.iter().find(|root| root.number == plugin.number).copied();
        let Some(root) = root.filter(|root| root.turn == turn && root.period.is_some()) else {
            return Ok(());
        };
        self.enter(plugin, None, |vm| vm.on_tick(root.context))?;
        let (worker, generation) = (self.embedding().worker, self.embedding().generation);
        self.settle(kernel);
        let is_same = |now: &&PluginRootContext| now.number == root.number && now.turn == root.turn;
        if let Some(root) = self.roots.iter().find(is_same) {
            root.arm(kernel, worker, generation);
        }
        Ok(())
    }
}

/// Appends the module's log messages to a failure.
fn with_log_messages(failure: GuestFailure, said: &[String]) -> GuestFailure {
    if said.is_empty() {
        failure
    } else {
        failure.with_message(format!("{failure}; it logged: {}", said.join(" | ")))
    }
}

/// Converts a fault of the module to a failure, with the limit and its configuration key if it exceeded one.
fn failure_of(common: &Common, fault: &ModuleFault) -> GuestFailure {
    match fault.kind() {
        ModuleFaultKind::Memory => GuestFailure::of_memory("wasm.memory", common.memory_bytes, fault),
        ModuleFaultKind::NoMemory => GuestFailure::of_own_memory(fault),
        ModuleFaultKind::Deadline if is_start(fault) => GuestFailure::of_start(common.start_cpu, fault),
        ModuleFaultKind::Deadline => GuestFailure::of_cpu("wasm.cpu", common.cpu, fault),
        ModuleFaultKind::Trap
        | ModuleFaultKind::StackOverflow
        | ModuleFaultKind::Exit(_)
        | ModuleFaultKind::BadReturn(_)
        | ModuleFaultKind::Host
        | ModuleFaultKind::Dead
        | ModuleFaultKind::UnknownContext
        | ModuleFaultKind::TooManyContexts
        | ModuleFaultKind::HasStreams => fault.to_string().into(),
    }
}

fn is_start(fault: &ModuleFault) -> bool {
    fault.callback().is_none_or(|callback| matches!(callback, Callback::VmStart | Callback::Configure))
}
