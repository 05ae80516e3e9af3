//! A script loaded by a spec.

use std::sync::Arc;

use eddy_filter::{ChainStep, Filter, FilterLibrary, FilterPolicy, HostApi, LibraryKeepAlive};
use eddy_guest::{CreatedFilter, Guest, LuaLimits, LuaScript, LuaSource, ReclaimQueue};

use super::host::RehearsalHost;

/// Script and the filter created from it.
pub(super) struct ScriptFilter {
    pub(super) host: Arc<RehearsalHost>,
    pub(super) library: Arc<LuaScript>,
    pub(super) made: CreatedFilter,
    pub(super) reclaim_queue: ReclaimQueue,
}

impl ScriptFilter {
    /// Loads a script; `number` separates its shared stores from those of other scripts.
    ///
    /// # Errors
    /// Error message with file and line.
    pub(super) fn load(
        number: usize,
        chunk: &str,
        text: &[u8],
        config: &str,
        limits: LuaLimits,
    ) -> Result<Self, String> {
        let host = Arc::new(RehearsalHost::new());
        let reclaim_queue = ReclaimQueue::new(|| ());
        let filter = format!("rehearsed {number}");
        let source = LuaSource { filter: &filter, chunk, text, limits };
        let library = LuaScript::load(&source, &(Arc::clone(&host) as Arc<dyn HostApi>));
        let library = library.map_err(|error| error.to_string())?;
        let made = library.filter("", config, 1, &reclaim_queue).map_err(|error| error.to_string())?;
        Ok(Self { host, library, made, reclaim_queue })
    }

    /// Returns the script as a step of a chain; `config` is the number of the rule's configuration.
    pub(super) fn step(&self, config: u64) -> ChainStep {
        let filter = Filter {
            name: "rehearsed".into(),
            id: 1,
            library: Arc::clone(&self.library) as Arc<dyn FilterLibrary>,
            number: self.made.number,
            info: self.made.info,
            policy: FilterPolicy::default(),
            owner: self.made.owner.clone(),
        };
        ChainStep { filter: Arc::new(filter), is_disabled: false, config, owner: LibraryKeepAlive::default() }
    }
}
