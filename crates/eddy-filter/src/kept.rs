//! Owned copies of views, for filters whose exchange pauses: nothing is borrowed after the crossing.

use eddy_http::{Field, Fields, Method, Version};

use crate::metadata::DynamicMetadata;
use crate::phase::Phase;
use crate::view::{ExchangeFacts, ExchangeInfo, ExchangeView, RequestView, ResponseView, TlsInfo};

/// Owned copy of an [`ExchangeView`].
#[derive(Debug)]
pub struct KeptView {
    phase: Phase,
    is_end: bool,
    is_buffered: bool,
    method: Method,
    version: Version,
    is_tls: bool,
    /// Status of the response, and whether it is a local reply.
    answer: Option<(u16, bool)>,
    request: KeptFields,
    response: KeptFields,
    trailers: KeptFields,
    body: Vec<u8>,
    texts: Texts,
    /// Information with all borrowed parts empty.
    about: ExchangeInfo<'static>,
    has_tls_info: bool,
    metadata: Option<DynamicMetadata>,
}

/// Owned copy of headers with their bytes.
#[derive(Clone, Debug, Default)]
pub struct KeptFields {
    /// Bytes of names and values.
    pub bytes: Vec<u8>,
    /// Fields.
    pub fields: Vec<Field>,
}

/// Concatenated texts.
#[derive(Debug)]
struct Texts {
    bytes: Vec<u8>,
    ends: [usize; TEXTS],
}

impl KeptView {
    /// Copies a view.
    ///
    /// # Cost
    /// Copies heads, body and metadata, in a handful of allocations.
    pub fn of(view: &ExchangeView<'_>) -> Self {
        let ExchangeView { phase, is_end, is_buffered, request, response, trailers, body, facts } = view;
        let about = facts.info();
        let [peer, local, listener, rule, cluster, endpoint, request_id, details] = about.texts();
        let TlsInfo { version, suite, server_name, certificate } = about.tls.unwrap_or_default();
        Self {
            phase: *phase,
            is_end: *is_end,
            is_buffered: *is_buffered,
            method: request.method,
            version: request.version,
            is_tls: request.is_tls,
            answer: response.map(|response| (response.status, response.is_local)),
            request: KeptFields::of(request.fields),
            response: KeptFields::of(response.unwrap_or_default().fields),
            trailers: KeptFields::of(*trailers),
            body: body.to_vec(),
            texts: Texts::of([
                request.method_name,
                request.target,
                request.authority,
                peer,
                local,
                listener,
                rule,
                cluster,
                endpoint,
                request_id,
                details,
                version,
                suite,
                server_name,
                certificate,
            ]),
            about: ExchangeInfo {
                peer_ip: about.peer_ip,
                started_unix_us: about.started_unix_us,
                duration_us: about.duration_us,
                now: about.now,
                entropy: about.entropy,
                connection: about.connection,
                request_bytes: about.request_bytes,
                response_bytes: about.response_bytes,
                attempts: about.attempts,
                ..ExchangeInfo::UNKNOWN
            },
            has_tls_info: about.tls.is_some(),
            metadata: about.metadata.cloned(),
        }
    }

    /// Returns the copied view.
    pub fn view(&self) -> ExchangeView<'_> {
        let [method_name, target, authority, ..] = self.texts.all();
        ExchangeView {
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
            response: self.answer.map(|(status, is_local)| ResponseView {
                fields: self.response.fields(),
                status,
                is_local,
            }),
            trailers: self.trailers.fields(),
            body: &self.body,
            facts: self,
        }
    }
}

impl ExchangeFacts for KeptView {
    fn info(&self) -> ExchangeInfo<'_> {
        let [_, _, _, peer, local, listener, rule, cluster, endpoint, request_id, details, tls @ ..] =
            self.texts.all();
        let [version, suite, server_name, certificate] = tls;
        ExchangeInfo {
            peer,
            local,
            listener,
            rule,
            cluster,
            endpoint,
            request_id,
            details,
            metadata: self.metadata.as_ref(),
            tls: self.has_tls_info.then_some(TlsInfo { version, suite, server_name, certificate }),
            ..self.about
        }
    }
}

impl KeptFields {
    /// Copies the fields.
    pub fn of(fields: Fields<'_>) -> Self {
        Self { bytes: fields.bytes().to_vec(), fields: fields.places().to_vec() }
    }

    /// Replaces the content by a copy of the fields, reusing the allocations.
    pub fn fill(&mut self, fields: Fields<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(fields.bytes());
        self.fields.clear();
        self.fields.extend_from_slice(fields.places());
    }

    /// Returns the copied fields.
    pub fn fields(&self) -> Fields<'_> {
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

/// Three of the request head, eight of the exchange info, four of TLS.
const TEXTS: usize = 15;

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use eddy_http::{FieldId, Span};
    use eddy_ids::WorkerTime;

    use super::*;

    fn field(name: Span, value: Span) -> Field {
        Field { name, value, id: FieldId::Other, ..Field::default() }
    }

    #[test]
    fn a_copy_equals_the_original_view() {
        let request =
            KeptFields { bytes: b"ab".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 2))] };
        let response =
            KeptFields { bytes: b"cde".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 3))] };
        let trailers =
            KeptFields { bytes: b"fg".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 2))] };
        let mut metadata = DynamicMetadata::new();
        metadata.set(b"space", b"key", b"1").unwrap();
        let view = ExchangeView {
            phase: Phase::ResponseBody,
            is_end: true,
            is_buffered: true,
            request: RequestView {
                fields: request.fields(),
                method: Method::Put,
                method_name: b"PUT",
                target: b"/t?q",
                authority: b"host:1",
                version: Version::Http10,
                is_tls: true,
            },
            response: Some(ResponseView { fields: response.fields(), status: 207, is_local: true }),
            trailers: trailers.fields(),
            body: b"body",
            facts: &ExchangeInfo {
                peer: b"peer",
                peer_ip: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                local: b"local",
                listener: b"listener",
                rule: b"rule",
                cluster: b"cluster",
                endpoint: b"endpoint",
                request_id: b"id",
                details: b"details",
                metadata: Some(&metadata),
                started_unix_us: 1,
                duration_us: 2,
                now: WorkerTime::from_millis(3),
                entropy: [4, 5],
                connection: 6,
                request_bytes: 7,
                response_bytes: 8,
                attempts: 9,
                tls: Some(TlsInfo {
                    version: b"TLSv1.3",
                    suite: b"suite",
                    server_name: b"name",
                    certificate: b"certificate",
                }),
            },
        };
        // `Debug` shows all members of a view, so a member that is missing or wrong in the copy is detected here.
        assert_eq!(format!("{:?}", KeptView::of(&view).view()), format!("{view:?}"));
    }

    #[test]
    fn a_copied_request_view_has_no_response() {
        let view = ExchangeView {
            phase: Phase::RequestHead,
            is_end: false,
            is_buffered: false,
            request: RequestView::default(),
            response: None,
            trailers: Fields::default(),
            body: b"",
            facts: &ExchangeInfo::UNKNOWN,
        };
        assert_eq!(format!("{:?}", KeptView::of(&view).view()), format!("{view:?}"));
    }
}
