//! Parts of plans that are not used any more: freed step by step, so that no worker is held up by a large plan.

use std::cell::RefCell;
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use crate::plan::GatewayPlan;

/// Parts of plans that a worker does not use any more, until it has freed them.
#[derive(Debug)]
pub(crate) struct RetiredParts {
    /// Freed from the end.
    parts: RefCell<Vec<RetiredPart>>,
    /// Notified when there are parts.
    pub(crate) wake: Notify,
    /// Takes plans back to the control thread: the last worker would have to free the whole configuration.
    plans: UnboundedSender<Arc<GatewayPlan>>,
}

/// A part of a plan.
#[derive(Debug)]
pub(super) enum RetiredPart {
    /// The plan itself. When it is reached, this worker refers to none of it.
    Plan(Arc<GatewayPlan>),
    /// Parts that are freed one by one.
    List(Box<dyn PartList>),
}

/// Parts that are freed one by one.
pub(super) trait PartList: fmt::Debug {
    /// Frees one part; returns false when there is none.
    fn free_one(&mut self) -> bool;
}

/// Place to which a plan gives its parts when it is dropped. They are freed at once when the worker has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Retirement(Weak<RetiredParts>);

impl RetiredParts {
    /// Creates the list of a worker that returns plans to `plans`.
    pub(crate) fn new(plans: UnboundedSender<Arc<GatewayPlan>>) -> Rc<Self> {
        Rc::new(Self { parts: RefCell::default(), wake: Notify::new(), plans })
    }

    /// Frees one part; returns false when there is none.
    pub(crate) fn free_one(&self) -> bool {
        // Taken out meanwhile: what is freed may retire parts of its own.
        let part = self.parts.borrow_mut().pop();
        match part {
            None => return false,
            Some(RetiredPart::Plan(plan)) => {
                // Refused when the gateway has ended; the plan is then freed here.
                let _ = self.plans.send(plan);
            }
            Some(RetiredPart::List(mut list)) => {
                if list.free_one() {
                    self.parts.borrow_mut().push(RetiredPart::List(list));
                }
            }
        }
        true
    }
}

impl Retirement {
    /// Creates the place for the parts of a worker's plans.
    pub(super) fn at(parts: &Rc<RetiredParts>) -> Self {
        Self(Rc::downgrade(parts))
    }

    /// Retires parts; those that come last are freed first.
    pub(super) fn take(&self, parts: impl IntoIterator<Item = RetiredPart>) {
        if let Some(retired) = self.0.upgrade() {
            retired.parts.borrow_mut().extend(parts);
            retired.wake.notify_one();
        }
    }
}

impl RetiredPart {
    /// Makes a list of parts one that is freed one by one.
    pub(super) fn list<T: fmt::Debug + 'static>(parts: Vec<T>) -> Self {
        Self::List(Box::new(parts))
    }
}

impl<T: fmt::Debug> PartList for Vec<T> {
    fn free_one(&mut self) -> bool {
        self.pop().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that retires another one when it is freed, as a listener does with its rules.
    #[derive(Debug)]
    struct Nested {
        retirement: Retirement,
        inner: Vec<Rc<()>>,
    }

    impl Drop for Nested {
        fn drop(&mut self) {
            self.retirement.take([RetiredPart::list(std::mem::take(&mut self.inner))]);
        }
    }

    #[test]
    fn parts_are_freed_one_at_a_time_including_nested_ones() {
        let (plans, _returned) = tokio::sync::mpsc::unbounded_channel();
        let retired = RetiredParts::new(plans);
        let witness = Rc::new(());
        let retirement = Retirement::at(&retired);
        let nested =
            || Rc::new(Nested { retirement: retirement.clone(), inner: vec![Rc::clone(&witness); 3] });
        retirement.take([RetiredPart::list(vec![nested(), nested()])]);
        let mut before = Rc::strong_count(&witness);
        assert_eq!(before, 7);
        while retired.free_one() {
            let now = Rc::strong_count(&witness);
            assert!(before - now <= 1, "{before} to {now} in one step");
            before = now;
        }
        assert_eq!(before, 1);
        // Without its list, a part is freed with everything in it.
        drop(retired);
        drop(nested());
        assert_eq!(Rc::strong_count(&witness), 1);
    }
}
