//! The modules.

use proxy_wasm_host::FaultKind;
use proxy_wasm_host::abi::Action;

/// A module that means harm.
pub(crate) struct Evil {
    pub(crate) name: &'static str,
    /// What comes of it.
    pub(crate) outcome: Outcome,
    pub(crate) text: &'static str,
}

/// What comes of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is not taken.
    Refused,
    /// There is no instance of it.
    NoInstance,
    /// It fails, and its machine is dead.
    Fault(FaultKind),
    /// It answers, after it told this number.
    Lives(Action, u32),
}

/// Adds the value of a field.
pub(crate) const GOOD: &str = include_str!("modules/good.wat");

/// Every one of them.
pub(crate) const EVIL: &[Evil] = &[
    Evil {
        name: "endless loop",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_loop.wat"),
    },
    Evil {
        name: "endless start",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_start.wat"),
    },
    Evil {
        name: "endless initialize",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_initialize.wat"),
    },
    Evil {
        name: "endless configure",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_configure.wat"),
    },
    Evil {
        name: "endless allocation",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_allocation.wat"),
    },
    Evil {
        name: "unreachable",
        outcome: Outcome::Fault(FaultKind::Trap),
        text: include_str!("modules/unreachable.wat"),
    },
    Evil {
        name: "division",
        outcome: Outcome::Fault(FaultKind::Trap),
        text: include_str!("modules/division.wat"),
    },
    Evil {
        name: "beyond memory",
        outcome: Outcome::Fault(FaultKind::Trap),
        text: include_str!("modules/beyond_memory.wat"),
    },
    Evil {
        name: "wrong indirect call",
        outcome: Outcome::Fault(FaultKind::Trap),
        text: include_str!("modules/wrong_indirect_call.wat"),
    },
    Evil {
        name: "stack",
        outcome: Outcome::Fault(FaultKind::StackOverflow),
        text: include_str!("modules/stack.wat"),
    },
    Evil {
        name: "stack by allocation",
        outcome: Outcome::Fault(FaultKind::StackOverflow),
        text: include_str!("modules/stack_by_allocation.wat"),
    },
    Evil {
        name: "memory",
        outcome: Outcome::Lives(Action::Continue, 16),
        text: include_str!("modules/memory.wat"),
    },
    Evil {
        name: "memory and trap",
        outcome: Outcome::Fault(FaultKind::Memory),
        text: include_str!("modules/memory_and_trap.wat"),
    },
    Evil {
        name: "touched memory",
        outcome: Outcome::Lives(Action::Continue, 16),
        text: include_str!("modules/touched_memory.wat"),
    },
    Evil { name: "much memory", outcome: Outcome::Refused, text: include_str!("modules/much_memory.wat") },
    Evil { name: "more memory", outcome: Outcome::NoInstance, text: include_str!("modules/more_memory.wat") },
    Evil {
        name: "table",
        outcome: Outcome::Lives(Action::Continue, 901),
        text: include_str!("modules/table.wat"),
    },
    Evil { name: "many tables", outcome: Outcome::Refused, text: include_str!("modules/many_tables.wat") },
    Evil { name: "wrong import", outcome: Outcome::Refused, text: include_str!("modules/wrong_import.wat") },
    Evil {
        name: "unknown import",
        outcome: Outcome::Refused,
        text: include_str!("modules/unknown_import.wat"),
    },
    Evil {
        name: "imported memory",
        outcome: Outcome::Refused,
        text: include_str!("modules/imported_memory.wat"),
    },
    Evil {
        name: "wrong callback",
        outcome: Outcome::Refused,
        text: include_str!("modules/wrong_callback.wat"),
    },
    Evil { name: "no function", outcome: Outcome::Refused, text: include_str!("modules/no_function.wat") },
    Evil { name: "no memory", outcome: Outcome::Refused, text: include_str!("modules/no_memory.wat") },
    Evil { name: "no version", outcome: Outcome::Refused, text: include_str!("modules/no_version.wat") },
    Evil {
        name: "no room",
        outcome: Outcome::Lives(Action::Continue, 6),
        text: include_str!("modules/no_room.wat"),
    },
    Evil {
        name: "room beyond memory",
        outcome: Outcome::Lives(Action::Continue, 6),
        text: include_str!("modules/room_beyond_memory.wat"),
    },
    Evil {
        name: "room across the end",
        outcome: Outcome::Lives(Action::Continue, 6),
        text: include_str!("modules/room_across_the_end.wat"),
    },
    Evil {
        name: "room over the answer",
        outcome: Outcome::Lives(Action::Continue, 0),
        text: include_str!("modules/room_over_the_answer.wat"),
    },
    Evil {
        name: "large value",
        outcome: Outcome::Lives(Action::Continue, 6),
        text: include_str!("modules/large_value.wat"),
    },
    Evil {
        name: "re-entrance by configuration",
        outcome: Outcome::Lives(Action::Continue, 10),
        text: include_str!("modules/re_entrance_by_configuration.wat"),
    },
    Evil {
        name: "re-entrance",
        outcome: Outcome::Lives(Action::Continue, 10),
        text: include_str!("modules/re_entrance.wat"),
    },
    Evil {
        name: "finishing others",
        outcome: Outcome::Lives(Action::Continue, 1),
        text: include_str!("modules/finishing_others.wat"),
    },
    Evil {
        name: "an answer that means nothing",
        outcome: Outcome::Fault(FaultKind::BadReturn(77)),
        text: include_str!("modules/an_answer_that_means_nothing.wat"),
    },
    Evil {
        name: "a map that lies",
        outcome: Outcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_that_lies.wat"),
    },
    Evil {
        name: "a map of too many",
        outcome: Outcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_of_too_many.wat"),
    },
    Evil {
        name: "a map with long names",
        outcome: Outcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_with_long_names.wat"),
    },
    Evil {
        name: "endless records",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_records.wat"),
    },
    Evil {
        name: "endless print",
        outcome: Outcome::Fault(FaultKind::Deadline),
        text: include_str!("modules/endless_print.wat"),
    },
    Evil {
        name: "endless sharing",
        outcome: Outcome::Lives(Action::Continue, 1),
        text: include_str!("modules/endless_sharing.wat"),
    },
    Evil {
        name: "endless queue",
        outcome: Outcome::Lives(Action::Continue, 1),
        text: include_str!("modules/endless_queue.wat"),
    },
];
