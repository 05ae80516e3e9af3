//! Tests of the real program from the outside: its commands, processes and signals.
#![cfg(test)]

mod at_fault;
mod budget;
mod command;
mod envoy_filters;
mod explain;
mod filters;
mod guides;
mod handover;
mod process;
mod projects;
mod quarantine;
mod scripts;
mod support;
mod takeover;
