//! Services and their methods.

use super::MessageId;

/// A service.
#[derive(Debug)]
pub struct ServiceDescriptor {
    pub(crate) name: Box<str>,
    pub(crate) methods: Box<[MethodDescriptor]>,
}

/// A method of a service.
#[derive(Debug)]
pub struct MethodDescriptor {
    /// The name within the service.
    pub name: Box<str>,
    /// What it takes.
    pub input: MessageId,
    /// What it answers with.
    pub output: MessageId,
    /// Whether it takes a stream.
    pub is_client_streaming: bool,
    /// Whether it answers with a stream.
    pub is_server_streaming: bool,
    /// The `MethodOptions` as they are in the descriptors, extensions such as `google.api.http` included.
    pub options: Box<[u8]>,
}

impl ServiceDescriptor {
    /// The full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its methods as declared.
    pub fn methods(&self) -> &[MethodDescriptor] {
        &self.methods
    }
}
