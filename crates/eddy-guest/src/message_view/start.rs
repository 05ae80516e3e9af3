//! Request and status line as pseudo-headers, whose names begin with a colon.

use std::borrow::Cow;

use eddy_filter::{ExchangeView, FilterEdit};

use crate::guest::scheme;

/// Changes to a start line; empty where there are none.
#[derive(Debug, Default)]
pub(super) struct StartLine {
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) authority: Vec<u8>,
    pub(super) status: u16,
}

/// Pseudo-header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pseudo {
    Method,
    Path,
    Authority,
    Scheme,
    Status,
}

impl Pseudo {
    /// Pseudo-headers of a request, in the order in which modules see them.
    pub(super) const OF_REQUEST: [Self; 4] = [Self::Authority, Self::Path, Self::Method, Self::Scheme];

    /// Returns the pseudo-header with this name in a request; `host` is an alias of `:authority`.
    pub(super) fn of_request(name: &[u8]) -> Option<Self> {
        if name.eq_ignore_ascii_case(b"host") {
            return Some(Self::Authority);
        }
        Self::OF_REQUEST.into_iter().find(|pseudo| pseudo.name() == name)
    }

    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Self::Method => b":method",
            Self::Path => b":path",
            Self::Authority => b":authority",
            Self::Scheme => b":scheme",
            Self::Status => b":status",
        }
    }
}

impl StartLine {
    pub(super) fn clear(&mut self) {
        self.method.clear();
        self.target.clear();
        self.authority.clear();
        self.status = 0;
    }

    pub(super) fn value<'a>(&'a self, view: &ExchangeView<'a>, pseudo: Pseudo) -> Cow<'a, [u8]> {
        let changed = |own: &'a [u8], before: &'a [u8]| if own.is_empty() { before } else { own };
        match pseudo {
            Pseudo::Method => changed(&self.method, view.request.method_name).into(),
            Pseudo::Path => changed(&self.target, view.request.target).into(),
            Pseudo::Authority => changed(&self.authority, view.request.authority).into(),
            Pseudo::Scheme => scheme(view).into(),
            Pseudo::Status => self.status(view).to_string().into_bytes().into(),
        }
    }

    /// Applies an edit of an earlier filter.
    pub(super) fn replay(&mut self, edit: &FilterEdit<'_>) {
        if let FilterEdit::Method(value) = *edit {
            replace(&mut self.method, value);
        } else if let FilterEdit::Target(value) = *edit {
            replace(&mut self.target, value);
        } else if let FilterEdit::Authority(value) = *edit {
            replace(&mut self.authority, value);
        } else if let FilterEdit::Status(status) = *edit {
            self.status = u16::try_from(status).unwrap_or(0);
        }
    }

    pub(super) fn status(&self, view: &ExchangeView<'_>) -> u16 {
        if self.status == 0 { view.response.map_or(0, |response| response.status) } else { self.status }
    }
}

pub(super) fn replace(place: &mut Vec<u8>, value: &[u8]) {
    place.clear();
    place.extend_from_slice(value);
}
