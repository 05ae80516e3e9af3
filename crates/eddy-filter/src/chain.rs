//! Filter chain of a listener under a rule: order of the filters and their grouping into crossings.

use std::sync::Arc;

use thiserror::Error;

use crate::call::FilterInvocation;
use crate::filter::{Filter, LibraryKeepAlive};
use crate::phase::{Phase, Verdict};

/// Filters that an exchange passes.
#[derive(Debug, Default)]
pub struct HttpFilterChain {
    steps: Vec<ChainStep>,
    /// Steps entered in each phase, in order.
    orders: [Vec<PhaseOrderEntry>; 8],
}

/// Filter with its settings under a rule.
#[derive(Clone, Debug)]
pub struct ChainStep {
    /// Filter.
    pub filter: Arc<Filter>,
    /// Whether the rule disables the filter. It keeps its position, so that step indices are the same under every rule.
    pub is_disabled: bool,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// Frees the rule's configuration.
    pub owner: LibraryKeepAlive,
}

/// Step in the order of a phase.
#[derive(Clone, Copy, Debug)]
pub struct PhaseOrderEntry {
    /// Index in [`HttpFilterChain::steps`].
    pub step: u8,
    /// Index in the order after the last step that is entered in the same crossing.
    pub run_end: u8,
    /// Invocation of the filter, without its state.
    pub template: FilterInvocation,
}

/// Error of a listener with more filters than a chain can hold.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a listener can have at most {CHAIN_FILTERS_MAX} filters")]
pub struct ChainTooLong;

impl HttpFilterChain {
    /// Creates a chain of these steps.
    ///
    /// # Errors
    /// [`ChainTooLong`].
    pub fn new(steps: Vec<ChainStep>) -> Result<Self, ChainTooLong> {
        if steps.len() > CHAIN_FILTERS_MAX {
            return Err(ChainTooLong);
        }
        let orders = Phase::ALL.map(|phase| order(&steps, phase));
        Ok(Self { steps, orders })
    }

    /// Whether the chain has no filters.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the filters, in request order.
    pub fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    /// Returns the steps entered in a phase, in order.
    #[inline]
    pub fn order(&self, phase: Phase) -> &[PhaseOrderEntry] {
        &self.orders[phase as usize]
    }

    /// Whether any filter is entered in the phase.
    #[inline]
    pub fn has(&self, phase: Phase) -> bool {
        !self.order(phase).is_empty()
    }
}

fn order(steps: &[ChainStep], phase: Phase) -> Vec<PhaseOrderEntry> {
    let interested = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !step.is_disabled && step.filter.info.interest.has(phase));
    let mut indices: Vec<usize> = interested.map(|(index, _)| index).collect();
    if phase.is_reversed() {
        indices.reverse();
    }
    let is_same = |a: usize, b: usize| {
        let library =
            |index: usize| steps.get(index).map(|step| Arc::as_ptr(&step.filter.library).cast::<()>());
        library(a) == library(b)
    };
    let mut entries = Vec::new();
    for run in indices.chunk_by(|a, b| is_same(*a, *b)) {
        let run_end = narrow(entries.len() + run.len());
        entries.extend(run.iter().filter_map(|index| {
            let template = template(steps.get(*index)?);
            Some(PhaseOrderEntry { step: narrow(*index), run_end, template })
        }));
    }
    entries
}

fn template(step: &ChainStep) -> FilterInvocation {
    FilterInvocation {
        filter: step.filter.number,
        config: step.config,
        state: 0,
        id: step.filter.id,
        nanos: 0,
        verdict: Verdict::Continue,
        flags: if step.filter.policy.is_blocking { FilterInvocation::BLOCKING } else { 0 },
        reserved: [0; 6],
    }
}

/// Narrows an index; a chain has at most [`CHAIN_FILTERS_MAX`] steps.
fn narrow(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}

/// Maximum number of filters per listener.
pub const CHAIN_FILTERS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::LibraryCall;
    use crate::event::FilterEvent;
    use crate::filter::{FilterInfo, FilterLibrary, FilterPolicy};
    use crate::phase::Interest;

    #[derive(Debug)]
    struct NamedLibrary(&'static str);

    impl FilterLibrary for NamedLibrary {
        fn name(&self) -> &str {
            self.0
        }

        fn run(&self, _call: &mut LibraryCall<'_>) {}

        fn event(&self, _event: &FilterEvent<'_>) {}
    }

    fn step(library: &Arc<dyn FilterLibrary>, position: u8, phases: &[Phase]) -> ChainStep {
        let filter = Filter {
            name: "f".into(),
            id: u32::from(position),
            library: Arc::clone(library),
            number: 1,
            info: FilterInfo { interest: Interest::of(phases), keeps_length: false, expects_tunnels: false },
            policy: FilterPolicy::default(),
            owner: LibraryKeepAlive::default(),
        };
        ChainStep {
            filter: Arc::new(filter),
            is_disabled: false,
            config: 0,
            owner: LibraryKeepAlive::default(),
        }
    }

    fn runs(chain: &HttpFilterChain, phase: Phase) -> Vec<Vec<u8>> {
        let mut runs: Vec<Vec<u8>> = Vec::new();
        let mut end = 0;
        for (index, entry) in chain.order(phase).iter().enumerate() {
            if index == end {
                runs.push(Vec::new());
                end = usize::from(entry.run_end);
            }
            assert_eq!(usize::from(entry.run_end), end);
            runs.last_mut().unwrap().push(entry.step);
        }
        runs
    }

    #[test]
    fn adjacent_filters_of_one_library_are_entered_in_one_crossing() {
        let go: Arc<dyn FilterLibrary> = Arc::new(NamedLibrary("go"));
        let native: Arc<dyn FilterLibrary> = Arc::new(NamedLibrary("native"));
        let both = [Phase::RequestHead, Phase::ResponseHead];
        let mut off = step(&native, 5, &both);
        off.is_disabled = true;
        let steps = vec![
            step(&go, 0, &both),
            step(&native, 1, &[Phase::Log]),
            step(&go, 2, &both),
            step(&native, 3, &both),
            step(&go, 4, &[Phase::ResponseHead]),
            off,
        ];
        let chain = HttpFilterChain::new(steps).unwrap();
        assert_eq!(runs(&chain, Phase::RequestHead), [vec![0, 2], vec![3]]);
        assert_eq!(runs(&chain, Phase::ResponseHead), [vec![4], vec![3], vec![2, 0]]);
        assert_eq!(runs(&chain, Phase::Log), [vec![1]]);
        assert!(!chain.has(Phase::RequestBody));
    }

    #[test]
    fn a_chain_has_a_length_limit() {
        let go: Arc<dyn FilterLibrary> = Arc::new(NamedLibrary("go"));
        let steps = |count: usize| {
            (0..count).map(|index| step(&go, u8::try_from(index).unwrap(), &[Phase::RequestHead])).collect()
        };
        assert_eq!(runs(&HttpFilterChain::new(steps(64)).unwrap(), Phase::RequestHead).len(), 1);
        assert_eq!(HttpFilterChain::new(steps(65)).err(), Some(ChainTooLong));
    }
}
