//! The real program, from the outside: its commands, its processes, its signals.
#![cfg(test)]

mod at_fault;
mod budget;
mod command;
mod explain;
mod filters;
mod handover;
mod process;
mod projects;
mod quarantine;
mod scripts;
mod support;
mod takeover;
