//! Library of a module with one instance per worker.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use eddy_filter::{
    FilterEvent, FilterLibrary, FilterLogLevel, HostApi, LibraryCall, LibraryKeepAlive, LoadError, LoadResult,
};

use super::crossing;
use super::instance::{LinearCallFailure, LinearInstance};
use super::lane::{States, own_number};
use super::module::LinearModule;
use crate::failure::GuestFailure;
use crate::guest::{CreatedFilter, Guest, find, index_of, plain_names};
use crate::lock::lock;
use crate::reclaim::ReclaimQueue;
use crate::thread::prepare_thread;

/// Filters of a Wasm module that uses the filter ABI over linear memory.
///
/// Each worker has its own instance, with its own filters: the data of a filter in its module's memory belongs to one
/// worker, and lasts until the module fails.
pub struct LinearLibrary {
    shared: Arc<LinearShared>,
}

struct LinearShared {
    module: LinearModule,
    host: Arc<dyn HostApi>,
    filters: Vec<String>,
    /// Configurations of all filters, for instances that are started later.
    made: Mutex<LinearRecipes>,
    /// One per worker; locked only by its worker while there is traffic.
    lanes: Box<[Mutex<LinearWorkerSlot>]>,
}

#[derive(Default)]
struct LinearRecipes {
    filters: Vec<Option<FilterRecipe>>,
    configs: Vec<Option<ConfigRecipe>>,
}

#[derive(Clone)]
struct FilterRecipe {
    name: String,
    config: String,
    id: u32,
}

#[derive(Clone)]
struct ConfigRecipe {
    /// Number of the filter in the library.
    filter: u64,
    config: String,
}

struct LinearWorkerSlot {
    worker: u16,
    /// `None` if the last instance failed.
    instance: Option<LinearInstance>,
    /// The instance's numbers, indexed by the library's; 0 for freed ones.
    filters: Vec<u64>,
    configs: Vec<u64>,
    states: States,
}

impl LinearLibrary {
    /// Starts an instance of a module for each worker.
    ///
    /// # Errors
    /// [`LoadError::Library`] with the failure of the module's start.
    pub fn open(module: &LinearModule, host: &Arc<dyn HostApi>) -> LoadResult<Self> {
        prepare_thread();
        let workers = u16::try_from(host.workers()).unwrap_or(u16::MAX).max(1);
        let lanes = (0..workers)
            .map(|worker| LinearWorkerSlot::start(module, host, worker).map(Mutex::new))
            .collect::<Result<Box<[_]>, _>>()?;
        let known = lanes.first().and_then(|lane| Some(lock(lane).instance.as_ref()?.filters.clone()));
        let shared = LinearShared {
            module: module.clone(),
            host: Arc::clone(host),
            filters: known.unwrap_or_default(),
            made: Mutex::default(),
            lanes,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the names of the filters.
    pub fn filters(&self) -> &[String] {
        &self.shared.filters
    }

    /// Returns the names of the filters, without duplicates.
    pub fn names(&self) -> Vec<&str> {
        plain_names(&self.shared.filters)
    }
}

impl FilterLibrary for LinearLibrary {
    fn name(&self) -> &str {
        &self.shared.module.name
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        prepare_thread();
        let Some(lane) = self.shared.lanes.get(usize::from(call.worker)) else {
            GuestFailure::from("the module has no instance for this worker").refuse(call);
            return;
        };
        let mut lane = match self.shared.ready(lane) {
            Ok(lane) => lane,
            Err(why) => {
                why.refuse(call);
                return;
            }
        };
        let LinearWorkerSlot { instance: Some(instance), filters, configs, states, .. } = &mut *lane else {
            return;
        };
        if let Err(ended) = crossing::run(instance, filters, configs, states, call) {
            let failed = call.steps.get(call.stopped).or_else(|| call.steps.first());
            self.shared.lose(&mut lane, &ended, failed.map_or(0, |step| step.id));
        }
    }

    fn event(&self, event: &FilterEvent<'_>) {
        prepare_thread();
        let Some(mut lane) = self.shared.lanes.get(usize::from(event.worker)).map(lock) else { return };
        // If an earlier instance waited for the event, its state is lost.
        let Some(instance) = lane.instance.as_mut() else { return };
        if let Err(ended) = crossing::tell(instance, event) {
            self.shared.lose(&mut lane, &ended, event.filter);
        }
    }
}

impl LinearShared {
    /// Locks the slot of a worker, and ensures that it has an instance.
    fn ready<'s>(
        &self,
        slot: &'s Mutex<LinearWorkerSlot>,
    ) -> Result<MutexGuard<'s, LinearWorkerSlot>, GuestFailure> {
        let lane = lock(slot);
        if lane.instance.is_some() {
            return Ok(lane);
        }
        let worker = lane.worker;
        // Recipes are locked before slots, here and where filters are created.
        drop(lane);
        let failure = |error: LoadError| GuestFailure::from(error.to_string());
        let mut fresh = LinearWorkerSlot::start(&self.module, &self.host, worker).map_err(failure)?;
        let made = lock(&self.made);
        let mut lane = lock(slot);
        for recipe in &made.filters {
            let number = fresh.make_filter(recipe.as_ref()).map_err(failure)?;
            fresh.filters.push(number);
        }
        for recipe in &made.configs {
            let number = fresh.make_config(recipe.as_ref()).map_err(failure)?;
            fresh.configs.push(number);
        }
        (lane.instance, lane.filters, lane.configs) = (fresh.instance, fresh.filters, fresh.configs);
        lane.states.renew();
        Ok(lane)
    }

    /// Drops the instance that failed in the filter with this host number; the next call starts another.
    fn lose(&self, lane: &mut LinearWorkerSlot, ended: &LinearCallFailure, filter: u32) {
        lane.instance = None;
        let text = format!("{}: an instance failed and is being replaced: {}", self.module.name, ended.0);
        // Dropped log messages are counted by the host.
        let _ = self.host.log(filter, FilterLogLevel::Error, text.as_bytes());
    }

    fn free_filter(&self, number: u64) {
        let id = take(&mut lock(&self.made).filters, number).map_or(0, |recipe| recipe.id);
        for lane in &self.lanes {
            let mut lane = lock(lane);
            let own = take_number(&mut lane.filters, number);
            let freed = lane.instance.as_mut().filter(|_| own != 0).map(|instance| instance.free_filter(own));
            if let Some(Err(ended)) = freed {
                self.lose(&mut lane, &ended, id);
            }
        }
    }

    fn free_config(&self, filter: u64, number: u64) {
        let id = {
            let mut made = lock(&self.made);
            take(&mut made.configs, number);
            made.filter(filter).map_or(0, |recipe| recipe.id)
        };
        for lane in &self.lanes {
            let mut lane = lock(lane);
            let of = own_number(&lane.filters, filter);
            let own = take_number(&mut lane.configs, number);
            let freed =
                lane.instance.as_mut().filter(|_| own != 0).map(|instance| instance.free_config(of, own));
            if let Some(Err(ended)) = freed {
                self.lose(&mut lane, &ended, id);
            }
        }
    }
}

impl LinearRecipes {
    /// Returns the filter with this number, unless it is freed.
    fn filter(&self, number: u64) -> Option<&FilterRecipe> {
        self.filters.get(index_of(number)?)?.as_ref()
    }
}

impl LinearWorkerSlot {
    fn start(module: &LinearModule, host: &Arc<dyn HostApi>, worker: u16) -> LoadResult<Self> {
        let instance = Some(LinearInstance::start(module, host, worker)?);
        Ok(Self { worker, instance, filters: Vec::new(), configs: Vec::new(), states: States::default() })
    }

    fn make_filter(&mut self, recipe: Option<&FilterRecipe>) -> LoadResult<u64> {
        let (Some(recipe), Some(instance)) = (recipe, &mut self.instance) else { return Ok(0) };
        instance.new_filter(&recipe.name, &recipe.config, recipe.id).map(|(number, _)| number)
    }

    fn make_config(&mut self, recipe: Option<&ConfigRecipe>) -> LoadResult<u64> {
        let (Some(recipe), Some(instance)) = (recipe, &mut self.instance) else { return Ok(0) };
        let filter = own_number(&self.filters, recipe.filter);
        instance.new_config(filter, &recipe.config)
    }
}

impl Guest for LinearLibrary {
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        prepare_thread();
        let shared = &self.shared;
        find(&shared.module.name, &shared.filters, name)?;
        let recipe = FilterRecipe { name: name.to_owned(), config: config.to_owned(), id };
        let mut made = lock(&shared.made);
        let number = made.filters.len() as u64 + 1;
        let mut said = None;
        for lane in &shared.lanes {
            let mut lane = lock(lane);
            // A failed instance creates this filter when it is started again.
            let Some(instance) = &mut lane.instance else { continue };
            let (own, info) = instance.new_filter(name, config, id)?;
            lane.filters.resize(made.filters.len(), 0);
            lane.filters.push(own);
            said.get_or_insert(info);
        }
        let info = said.ok_or_else(|| LoadError::Refused { message: "the module has failed".to_owned() })?;
        made.filters.push(Some(recipe));
        let freed = Arc::clone(shared);
        let owner = reclaim_queue.owner(LibraryKeepAlive::default(), move || freed.free_filter(number));
        Ok(CreatedFilter { number, info, owner })
    }

    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        prepare_thread();
        let shared = &self.shared;
        let mut made = lock(&shared.made);
        if made.filter(filter).is_none() {
            return Err(LoadError::Refused { message: format!("the module has no filter {filter}") });
        }
        let number = made.configs.len() as u64 + 1;
        for lane in &shared.lanes {
            let mut lane = lock(lane);
            let of = own_number(&lane.filters, filter);
            let Some(instance) = &mut lane.instance else { continue };
            let own = instance.new_config(of, config)?;
            lane.configs.resize(made.configs.len(), 0);
            lane.configs.push(own);
        }
        made.configs.push(Some(ConfigRecipe { filter, config: config.to_owned() }));
        let freed = Arc::clone(shared);
        let owner = reclaim_queue.owner(owner.clone(), move || freed.free_config(filter, number));
        Ok((number, owner))
    }
}

impl fmt::Debug for LinearLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinearLibrary({})", self.shared.module.name)
    }
}

/// Removes the instance's number for the library's `number`; 0 if there is none.
fn take_number(numbers: &mut [u64], number: u64) -> u64 {
    index_of(number).and_then(|index| numbers.get_mut(index)).map_or(0, std::mem::take)
}

fn take<T>(made: &mut [Option<T>], number: u64) -> Option<T> {
    made.get_mut(index_of(number)?)?.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_0_names_no_filter() {
        let mut numbers = vec![7, 8];
        assert_eq!(own_number(&numbers, 1), 7);
        for number in [0, 3, u64::MAX] {
            assert_eq!((own_number(&numbers, number), take_number(&mut numbers, number)), (0, 0));
            assert_eq!(take(&mut [Some('a'), Some('b')], number), None);
        }
        assert_eq!((take_number(&mut numbers, 1), numbers), (7, vec![0, 8]));
        assert_eq!(take(&mut [Some('a'), Some('b')], 2), Some('b'));
    }
}
