//! Scripts in Lua, entered as the gateway does.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod compiled;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod handle;
#[cfg(test)]
mod headers;
#[cfg(test)]
mod info;
#[cfg(test)]
mod signatures;
#[cfg(test)]
mod support;
