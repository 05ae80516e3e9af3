//! Malicious modules.

use proxy_wasm_host::ModuleFaultKind;
use proxy_wasm_host::abi::Action;

/// Malicious module.
pub(crate) struct Evil {
    pub(crate) name: &'static str,
    /// Expected outcome.
    pub(crate) outcome: EvilOutcome,
    pub(crate) text: &'static str,
}

/// Outcome of running a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvilOutcome {
    /// The module is refused.
    Refused,
    /// The module cannot be instantiated.
    NoInstance,
    /// The module fails, and its VM can no longer be used.
    Fault(ModuleFaultKind),
    /// The module returns this action after it reported this number.
    Lives(Action, u32),
}

/// Correct module: adds the value of a header.
pub(crate) const GOOD: &str = include_str!("modules/good.wat");

/// All malicious modules.
pub(crate) const EVIL: &[Evil] = &[
    Evil {
        name: "endless loop",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_loop.wat"),
    },
    Evil {
        name: "endless start",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_start.wat"),
    },
    Evil {
        name: "endless initialize",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_initialize.wat"),
    },
    Evil {
        name: "endless configure",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_configure.wat"),
    },
    Evil {
        name: "endless allocation",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_allocation.wat"),
    },
    Evil {
        name: "unreachable",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Trap),
        text: include_str!("modules/unreachable.wat"),
    },
    Evil {
        name: "division",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Trap),
        text: include_str!("modules/division.wat"),
    },
    Evil {
        name: "beyond memory",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Trap),
        text: include_str!("modules/beyond_memory.wat"),
    },
    Evil {
        name: "wrong indirect call",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Trap),
        text: include_str!("modules/wrong_indirect_call.wat"),
    },
    Evil {
        name: "stack",
        outcome: EvilOutcome::Fault(ModuleFaultKind::StackOverflow),
        text: include_str!("modules/stack.wat"),
    },
    Evil {
        name: "stack by allocation",
        outcome: EvilOutcome::Fault(ModuleFaultKind::StackOverflow),
        text: include_str!("modules/stack_by_allocation.wat"),
    },
    Evil {
        name: "memory",
        outcome: EvilOutcome::Lives(Action::Continue, 16),
        text: include_str!("modules/memory.wat"),
    },
    Evil {
        name: "memory and trap",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Memory),
        text: include_str!("modules/memory_and_trap.wat"),
    },
    Evil {
        name: "touched memory",
        outcome: EvilOutcome::Lives(Action::Continue, 16),
        text: include_str!("modules/touched_memory.wat"),
    },
    Evil {
        name: "much memory",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/much_memory.wat"),
    },
    Evil {
        name: "more memory",
        outcome: EvilOutcome::NoInstance,
        text: include_str!("modules/more_memory.wat"),
    },
    Evil {
        name: "table",
        outcome: EvilOutcome::Lives(Action::Continue, 901),
        text: include_str!("modules/table.wat"),
    },
    Evil {
        name: "many tables",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/many_tables.wat"),
    },
    Evil {
        name: "wrong import",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/wrong_import.wat"),
    },
    Evil {
        name: "unknown import",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/unknown_import.wat"),
    },
    Evil {
        name: "imported memory",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/imported_memory.wat"),
    },
    Evil {
        name: "wrong callback",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/wrong_callback.wat"),
    },
    Evil {
        name: "no function",
        outcome: EvilOutcome::Refused,
        text: include_str!("modules/no_function.wat"),
    },
    Evil { name: "no memory", outcome: EvilOutcome::Refused, text: include_str!("modules/no_memory.wat") },
    Evil { name: "no version", outcome: EvilOutcome::Refused, text: include_str!("modules/no_version.wat") },
    Evil {
        name: "no room",
        outcome: EvilOutcome::Lives(Action::Continue, 6),
        text: include_str!("modules/no_room.wat"),
    },
    Evil {
        name: "room beyond memory",
        outcome: EvilOutcome::Lives(Action::Continue, 6),
        text: include_str!("modules/room_beyond_memory.wat"),
    },
    Evil {
        name: "room across the end",
        outcome: EvilOutcome::Lives(Action::Continue, 6),
        text: include_str!("modules/room_across_the_end.wat"),
    },
    Evil {
        name: "room over the answer",
        outcome: EvilOutcome::Lives(Action::Continue, 0),
        text: include_str!("modules/room_over_the_answer.wat"),
    },
    Evil {
        name: "large value",
        outcome: EvilOutcome::Lives(Action::Continue, 6),
        text: include_str!("modules/large_value.wat"),
    },
    Evil {
        name: "re-entrance by configuration",
        outcome: EvilOutcome::Lives(Action::Continue, 10),
        text: include_str!("modules/re_entrance_by_configuration.wat"),
    },
    Evil {
        name: "re-entrance",
        outcome: EvilOutcome::Lives(Action::Continue, 10),
        text: include_str!("modules/re_entrance.wat"),
    },
    Evil {
        name: "finishing others",
        outcome: EvilOutcome::Lives(Action::Continue, 1),
        text: include_str!("modules/finishing_others.wat"),
    },
    Evil {
        name: "an answer that means nothing",
        outcome: EvilOutcome::Fault(ModuleFaultKind::BadReturn(77)),
        text: include_str!("modules/an_answer_that_means_nothing.wat"),
    },
    Evil {
        name: "a map that lies",
        outcome: EvilOutcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_that_lies.wat"),
    },
    Evil {
        name: "a map of too many",
        outcome: EvilOutcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_of_too_many.wat"),
    },
    Evil {
        name: "a map with long names",
        outcome: EvilOutcome::Lives(Action::Continue, 2),
        text: include_str!("modules/a_map_with_long_names.wat"),
    },
    Evil {
        name: "endless records",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_records.wat"),
    },
    Evil {
        name: "endless print",
        outcome: EvilOutcome::Fault(ModuleFaultKind::Deadline),
        text: include_str!("modules/endless_print.wat"),
    },
    Evil {
        name: "endless sharing",
        outcome: EvilOutcome::Lives(Action::Continue, 1),
        text: include_str!("modules/endless_sharing.wat"),
    },
    Evil {
        name: "endless queue",
        outcome: EvilOutcome::Lives(Action::Continue, 1),
        text: include_str!("modules/endless_queue.wat"),
    },
];
