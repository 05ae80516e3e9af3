//! The real program, from the outside: its commands, its processes, its signals.

#[cfg(test)]
mod at_fault;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod command;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod handover;
#[cfg(test)]
mod process;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod quarantine;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod support;
