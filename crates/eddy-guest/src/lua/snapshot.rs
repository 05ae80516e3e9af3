//! A copy of what a hook sees, for the time in which the exchange waits and nothing of it is lent.

use std::net::IpAddr;

use eddy_filter::{About, Metadata, Phase, RequestView, ResponseView, View};
use eddy_http::{Field, Fields, Method, Version};

/// A view that owns what it shows.
#[derive(Debug)]
pub(super) struct Snapshot {
    phase: Phase,
    is_end: bool,
    is_buffered: bool,
    is_tls: bool,
    version: Version,
    method: Vec<u8>,
    target: Vec<u8>,
    authority: Vec<u8>,
    status: Option<u16>,
    is_local: bool,
    head: FieldsCopy,
    trailers: FieldsCopy,
    body: Vec<u8>,
    about: [Vec<u8>; 8],
    peer_ip: Option<IpAddr>,
    metadata: Metadata,
    started_unix_us: u64,
    connection: u64,
    attempts: u32,
}

/// Fields and the bytes that they lie in.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldsCopy {
    pub(super) bytes: Vec<u8>,
    pub(super) fields: Vec<Field>,
}

impl FieldsCopy {
    /// Makes this a copy of the fields.
    pub(super) fn fill(&mut self, fields: Fields<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(fields.bytes());
        self.fields.clear();
        self.fields.extend_from_slice(fields.places());
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.fields)
    }
}

impl Snapshot {
    /// A copy of a view.
    ///
    /// # Cost
    /// Copies the head of the direction, the body where one is shown, and the metadata.
    pub(super) fn of(view: &View<'_>) -> Self {
        let copied = |fields: Fields<'_>| {
            let mut copy = FieldsCopy::default();
            copy.fill(fields);
            copy
        };
        let about = &view.about;
        let mut metadata = Metadata::new();
        for (space, key, value) in about.metadata.into_iter().flat_map(Metadata::iter) {
            // As large as what was there.
            let _ = metadata.set(space, key, value);
        }
        let head = match (view.phase.is_reversed(), view.response) {
            (true, Some(response)) => response.fields,
            _ => view.request.fields,
        };
        Self {
            phase: view.phase,
            is_end: view.is_end,
            is_buffered: view.is_buffered,
            is_tls: view.request.is_tls,
            version: view.request.version,
            method: view.request.method_name.to_vec(),
            target: view.request.target.to_vec(),
            authority: view.request.authority.to_vec(),
            status: view.response.map(|response| response.status),
            is_local: view.response.is_some_and(|response| response.is_local),
            head: copied(head),
            trailers: copied(view.trailers),
            body: view.body.to_vec(),
            about: [
                about.peer,
                about.local,
                about.listener,
                about.rule,
                about.cluster,
                about.endpoint,
                about.request_id,
                about.details,
            ]
            .map(<[u8]>::to_vec),
            peer_ip: about.peer_ip,
            metadata,
            started_unix_us: about.started_unix_us,
            connection: about.connection,
            attempts: about.attempts,
        }
    }

    /// What it shows; of the other direction only what is no field.
    pub(super) fn view(&self) -> View<'_> {
        let [peer, local, listener, rule, cluster, endpoint, request_id, details] = &self.about;
        let head = self.head.fields();
        let (request, response) =
            if self.phase.is_reversed() { (Fields::default(), head) } else { (head, Fields::default()) };
        View {
            phase: self.phase,
            is_end: self.is_end,
            is_buffered: self.is_buffered,
            request: RequestView {
                fields: request,
                method: Method::from_bytes(&self.method),
                method_name: &self.method,
                target: &self.target,
                authority: &self.authority,
                version: self.version,
                is_tls: self.is_tls,
            },
            response: self.status.map(|status| ResponseView {
                fields: response,
                status,
                is_local: self.is_local,
            }),
            trailers: self.trailers.fields(),
            body: &self.body,
            about: About {
                peer,
                peer_ip: self.peer_ip,
                local,
                listener,
                rule,
                cluster,
                endpoint,
                request_id,
                details,
                metadata: Some(&self.metadata),
                started_unix_us: self.started_unix_us,
                connection: self.connection,
                attempts: self.attempts,
                ..About::default()
            },
        }
    }
}
