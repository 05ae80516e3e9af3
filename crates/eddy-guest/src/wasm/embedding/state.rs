//! What one machine's host knows.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{Direction, FilterLogLevel, Handle, HostApi as EddyHost};
use proxy_wasm_host::{ContextId, SharedView};

use super::answer::CallAnswer;
use super::metric::Metrics;
use super::queue::Queues;
use super::waiting::PausedMessage;
use crate::wasm::message_view::{MessageSection, MessageView};

/// What all machines of a library have in common.
pub(crate) struct Common {
    /// The library's name.
    pub(crate) name: String,
    /// Names the machine among those of the module.
    pub(crate) vm_id: String,
    pub(crate) host: Arc<dyn EddyHost>,
    pub(crate) metrics: Metrics,
    pub(crate) queues: Queues,
    /// Longest CPU time of a call, as configured.
    pub(crate) cpu: Duration,
    /// Longest time of a start.
    pub(crate) start_time: Duration,
    /// Largest memory of an instance, as configured.
    pub(crate) memory_bytes: u64,
}

/// A filter of the configuration: a plugin of the module.
#[derive(Debug)]
pub(crate) struct Plugin {
    /// The library's number of it.
    pub(crate) number: usize,
    /// The host's number of the filter.
    pub(crate) id: u32,
    /// The filter's name.
    pub(crate) name: String,
    pub(crate) root_id: String,
    pub(crate) configuration: Arc<[u8]>,
}

/// What eddy does for one machine.
pub(crate) struct Embedding {
    pub(crate) common: Arc<Common>,
    /// The worker that the machine belongs to.
    pub(crate) worker: u16,
    /// Names the machine among those that its worker had.
    pub(crate) generation: u32,
    /// Contexts of plugins.
    owners: Vec<(ContextId, Arc<Plugin>)>,
    /// The plugin whose callback is under way.
    pub(crate) current: Option<Arc<Plugin>>,
    /// The stream whose callback is under way.
    pub(crate) stream: Option<ContextId>,
    /// The exchange of that stream.
    pub(crate) exchange: Option<Handle>,
    pub(crate) message_view: MessageView,
    /// What the stream wants done when its callback is over.
    pub(crate) wishes: Wishes,
    /// Streams that wait for the module.
    pub(crate) waiting: Vec<PausedMessage>,
    /// Calls under way: the context that made each, and its plugin.
    pub(super) calls: HashMap<u32, (ContextId, Arc<Plugin>)>,
    pub(super) calls_made: u32,
    /// The answer that is told just now.
    pub(super) answer: Option<CallAnswer>,
    /// By plugin, the period that it asked for and that was not seen to yet; none for no more ticks.
    pub(crate) periods: Vec<(usize, Option<u32>)>,
    /// What streams have set for themselves.
    pub(super) properties: HashMap<ContextId, Vec<Property>>,
    pub(super) shared: SharedView,
    /// What was said while the machine started, to tell why it failed.
    pub(crate) said: Vec<String>,
    pub(crate) is_starting: bool,
}

/// A name and its value.
type Property = (Vec<u8>, Vec<u8>);

/// What a stream wants done when its callback is over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    /// By direction, whether it said that the message goes on.
    pub(crate) goes_on: [bool; 2],
    /// Whether it has answered.
    pub(crate) is_replied: bool,
    /// Whether it wants the exchange to end.
    pub(crate) is_reset: bool,
}

impl Embedding {
    pub(crate) fn new(common: Arc<Common>, shared: SharedView) -> Self {
        Self {
            common,
            worker: 0,
            generation: 0,
            owners: Vec::new(),
            current: None,
            stream: None,
            exchange: None,
            message_view: MessageView::default(),
            wishes: Wishes::default(),
            waiting: Vec::new(),
            calls: HashMap::new(),
            calls_made: 0,
            answer: None,
            periods: Vec::new(),
            properties: HashMap::new(),
            shared,
            said: Vec::new(),
            is_starting: true,
        }
    }

    /// Notes the context of a plugin.
    pub(crate) fn own(&mut self, context: ContextId, plugin: &Arc<Plugin>) {
        self.owners.push((context, Arc::clone(plugin)));
    }

    /// Makes ready for a callback of a plugin, or of a stream of its.
    pub(crate) fn begin(&mut self, plugin: &Arc<Plugin>, stream: Option<ContextId>) {
        if self.current.as_ref().is_none_or(|current| !Arc::ptr_eq(current, plugin)) {
            self.current = Some(Arc::clone(plugin));
        }
        self.stream = stream;
        self.wishes = Wishes::default();
    }

    /// Whether a stream waits for answers to calls.
    pub(crate) fn has_calls(&self, stream: ContextId) -> bool {
        self.calls.values().any(|(caller, _)| *caller == stream)
    }

    /// Lets the machine's module say no more that is kept.
    pub(crate) fn started(&mut self) {
        self.is_starting = false;
        self.said = Vec::new();
    }

    /// Whose a context is: that of a plugin, or of a stream or plugin in the making of the one whose callback is under way.
    pub(super) fn plugin_of(&self, context: Option<ContextId>) -> Option<&Arc<Plugin>> {
        let own = self.owners.iter().find(|(known, _)| Some(*known) == context);
        own.map(|(_, plugin)| plugin).or(self.current.as_ref())
    }

    pub(super) fn id_of(&self, context: Option<ContextId>) -> u32 {
        self.plugin_of(context).map_or(0, |plugin| plugin.id)
    }

    /// What shows a section to a context: what is shown now, or what was kept of a stream that waits.
    pub(super) fn sight_of(&self, context: Option<ContextId>, direction: Direction) -> Option<&MessageView> {
        if context.is_some() && context == self.stream {
            return Some(&self.message_view);
        }
        let of_context = || self.waiting.iter().filter(|waiting| Some(waiting.stream) == context);
        let found =
            of_context().find(|waiting| waiting.direction == direction).or_else(|| of_context().next());
        found.map(|waiting| &waiting.message_view)
    }

    pub(super) fn sight_of_mut(
        &mut self,
        context: Option<ContextId>,
        direction: Direction,
    ) -> Option<&mut MessageView> {
        if context.is_some() && context == self.stream {
            return Some(&mut self.message_view);
        }
        let is_meant = |waiting: &&mut PausedMessage| {
            Some(waiting.stream) == context && waiting.direction == direction && waiting.decision.is_none()
        };
        self.waiting.iter_mut().find(is_meant).map(|waiting| &mut waiting.message_view)
    }

    pub(super) fn log_as(&mut self, context: Option<ContextId>, level: FilterLogLevel, text: &[u8]) {
        if self.is_starting && level >= FilterLogLevel::Info && self.said.len() < SAID_LINES_MAX {
            self.said.push(String::from_utf8_lossy(text).chars().take(SAID_CHARS_MAX).collect());
        }
        // Beyond its share a filter is not heard.
        let _ = self.common.host.log(self.id_of(context), level, text);
    }
}

/// The message that a section belongs to.
pub(super) fn direction_of(part: MessageSection) -> Direction {
    match part {
        MessageSection::Request | MessageSection::RequestTrailers => Direction::Request,
        MessageSection::Response | MessageSection::ResponseTrailers => Direction::Response,
    }
}

/// Lines of a start that fails which are told.
const SAID_LINES_MAX: usize = 8;
const SAID_CHARS_MAX: usize = 300;
