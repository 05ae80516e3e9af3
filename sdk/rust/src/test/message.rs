//! Messages of tests.

use eddy_http::{Field, Span};

use crate::abi;
use crate::field::FieldId;
use crate::overlay::OwnedHead;

/// Fields, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFields(pub(crate) Vec<(Vec<u8>, Vec<u8>)>);

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Method name.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Host, or host and port.
    pub authority: String,
    /// Header fields.
    pub fields: TestFields,
    /// Pieces in which the body arrives.
    pub body: Vec<Vec<u8>>,
    /// Trailer fields.
    pub trailers: TestFields,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header fields.
    pub fields: TestFields,
    /// Pieces in which the body arrives.
    pub body: Vec<Vec<u8>>,
    /// Trailer fields.
    pub trailers: TestFields,
}

impl TestFields {
    /// Returns the first value of this name, if it is UTF-8.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all values of this name that are UTF-8.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name.as_bytes()));
        named.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Adds a field.
    pub fn add(&mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.0.push((name.as_ref().to_vec(), value.as_ref().to_vec()));
    }

    /// Returns the fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields as bytes and places, as the gateway has them.
    pub(super) fn placed(&self) -> (Vec<u8>, Vec<Field>) {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        for (name, value) in self.iter() {
            let start = bytes.len();
            bytes.extend_from_slice(name);
            let middle = bytes.len();
            bytes.extend_from_slice(value);
            places.push(Field {
                name: Span::new(start, middle),
                value: Span::new(middle, bytes.len()),
                id: eddy_http::FieldId::from_name(name),
                ..Field::default()
            });
        }
        (bytes, places)
    }

    /// Returns the fields in the form that a library reads.
    pub(crate) fn to_owned_head(&self) -> OwnedHead {
        let nominated: Vec<String> = self
            .all("connection")
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let mut head = OwnedHead::default();
        for (name, value) in &self.0 {
            let id = FieldId::of(name).map_or_else(|| unknown_id(name), FieldId::number);
            let is_nominated = nominated.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name));
            head.push(name, value, id, if is_nominated { abi::FIELD_NOMINATED } else { 0 });
        }
        head
    }
}

/// Returns the number for the kind of a name that eddy does not know.
fn unknown_id(name: &[u8]) -> u8 {
    let lower: Vec<u8> = name.to_ascii_lowercase();
    let dashed: Vec<u8> =
        lower.iter().map(|byte| if matches!(byte, b'_' | b'.') { b'-' } else { *byte }).collect();
    if dashed != lower && FieldId::of(&dashed).is_some() {
        abi::FIELD_ALIAS
    } else if lower.starts_with(b"x-forwarded-") {
        abi::FIELD_X_FORWARDED
    } else {
        abi::FIELD_OTHER
    }
}

impl Request {
    /// Creates a request without fields and body.
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            authority: "example.com".to_owned(),
            fields: TestFields::default(),
            body: Vec::new(),
            trailers: TestFields::default(),
        }
    }

    /// Creates a GET request.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// Creates a POST request with a body in one piece.
    #[must_use]
    pub fn post(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", target).piece(body)
    }
}

impl Response {
    /// Creates a response without fields and body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, fields: TestFields::default(), body: Vec::new(), trailers: TestFields::default() }
    }
}

/// Methods common to requests and responses.
macro_rules! message {
    ($kind:ty) => {
        impl $kind {
            /// Adds a field.
            #[must_use]
            pub fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
                self.fields.add(name, value);
                self
            }

            /// Adds a body piece.
            #[must_use]
            pub fn piece(mut self, piece: impl Into<Vec<u8>>) -> Self {
                self.body.push(piece.into());
                self
            }

            /// Adds a trailer.
            #[must_use]
            pub fn trailer(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
                self.trailers.add(name, value);
                self
            }

            /// Returns the first value of a field, if it is UTF-8.
            #[must_use]
            pub fn get_field(&self, name: &str) -> Option<&str> {
                self.fields.get(name)
            }

            /// Returns the whole body.
            #[must_use]
            pub fn whole_body(&self) -> Vec<u8> {
                self.body.concat()
            }
        }
    };
}

message!(Request);
message!(Response);
