//! Services and their methods.

use super::MessageId;

/// A service.
#[derive(Debug)]
pub struct ServiceDescriptor {
    /// Full name.
    pub name: Box<str>,
    /// Methods in the order of declaration.
    pub methods: Box<[MethodDescriptor]>,
}

/// A method of a service.
#[derive(Debug)]
pub struct MethodDescriptor {
    /// Name within the service.
    pub name: Box<str>,
    /// Request message type.
    pub input: MessageId,
    /// Response message type.
    pub output: MessageId,
    /// Whether the method is client-streaming.
    pub is_client_streaming: bool,
    /// Whether the method is server-streaming.
    pub is_server_streaming: bool,
    /// The encoded `MethodOptions` of the descriptors, including extensions such as `google.api.http`.
    pub options: Box<[u8]>,
}
