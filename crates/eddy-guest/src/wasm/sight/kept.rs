//! A view that outlives its crossing: what a module may read of an exchange that waits for it.

use std::net::IpAddr;

use eddy_filter::{About, Metadata, Phase, RequestView, ResponseView, View};
use eddy_http::{Field, Fields, Method, Version};

/// A copy of a view.
#[derive(Debug)]
pub(crate) struct Kept {
    phase: Phase,
    is_end: bool,
    is_buffered: bool,
    request: Section,
    method: Method,
    version: Version,
    is_tls: bool,
    response: Option<(Section, u16, bool)>,
    trailers: Section,
    body: Vec<u8>,
    peer_ip: Option<IpAddr>,
    texts: Texts,
    metadata: Metadata,
    started_unix_us: u64,
    now_ms: u64,
    entropy: [u64; 2],
    connection: u64,
    request_bytes: u64,
    response_bytes: u64,
    attempts: u32,
}

/// Fields with the bytes that they lie in.
#[derive(Debug, Default)]
struct Section {
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

/// Texts one behind the other.
#[derive(Debug)]
struct Texts {
    bytes: Vec<u8>,
    ends: [usize; TEXTS],
}

impl Kept {
    /// A copy of what a view shows.
    ///
    /// # Cost
    /// Copies heads and body; some twenty allocations.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let about = &view.about;
        let mut metadata = Metadata::new();
        for (space, key, value) in about.metadata.into_iter().flat_map(Metadata::iter) {
            // What fitted there fits here.
            let _ = metadata.set(space, key, value);
        }
        Self {
            phase: view.phase,
            is_end: view.is_end,
            is_buffered: view.is_buffered,
            request: Section::of(view.request.fields),
            method: view.request.method,
            version: view.request.version,
            is_tls: view.request.is_tls,
            response: view
                .response
                .map(|response| (Section::of(response.fields), response.status, response.is_local)),
            trailers: Section::of(view.trailers),
            body: view.body.to_vec(),
            peer_ip: about.peer_ip,
            texts: Texts::of([
                view.request.method_name,
                view.request.target,
                view.request.authority,
                about.peer,
                about.local,
                about.listener,
                about.rule,
                about.cluster,
                about.endpoint,
                about.request_id,
                about.details,
            ]),
            metadata,
            started_unix_us: about.started_unix_us,
            now_ms: about.now_ms,
            entropy: about.entropy,
            connection: about.connection,
            request_bytes: about.request_bytes,
            response_bytes: about.response_bytes,
            attempts: about.attempts,
        }
    }

    /// What was copied.
    pub(crate) fn view(&self) -> View<'_> {
        let [
            method_name,
            target,
            authority,
            peer,
            local,
            listener,
            rule,
            cluster,
            endpoint,
            request_id,
            details,
        ] = self.texts.all();
        View {
            phase: self.phase,
            is_end: self.is_end,
            is_buffered: self.is_buffered,
            request: RequestView {
                fields: self.request.fields(),
                method: self.method,
                method_name,
                target,
                authority,
                version: self.version,
                is_tls: self.is_tls,
            },
            response: self.response.as_ref().map(|(section, status, is_local)| ResponseView {
                fields: section.fields(),
                status: *status,
                is_local: *is_local,
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
                duration_us: 0,
                now_ms: self.now_ms,
                entropy: self.entropy,
                connection: self.connection,
                request_bytes: self.request_bytes,
                response_bytes: self.response_bytes,
                attempts: self.attempts,
            },
        }
    }
}

impl Section {
    fn of(fields: Fields<'_>) -> Self {
        Self { bytes: fields.bytes().to_vec(), fields: fields.places().to_vec() }
    }

    fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.fields)
    }
}

impl Texts {
    fn of(texts: [&[u8]; TEXTS]) -> Self {
        let mut bytes = Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
        let ends = texts.map(|text| {
            bytes.extend_from_slice(text);
            bytes.len()
        });
        Self { bytes, ends }
    }

    fn all(&self) -> [&[u8]; TEXTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let text = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            text
        })
    }
}

const TEXTS: usize = 11;
