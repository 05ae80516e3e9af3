//! Explanations for NGINX sites: the server, each search for a location, each rewrite.

use std::fmt;

use serde::Serialize;

use super::request::SiteRequest;
use super::search::SearchMode;
use super::sites::Sites;
use super::state::{NginxOutcome, NginxRequestState};
use super::trace::{BlockRef, Hop, ServerChoice, Trace, place_ref, shown};
use crate::request::RouteScratch;

/// Explanation of the path of a request through the configuration. Its JSON form is stable: fields may be added, never
/// renamed.
#[derive(Clone, Debug, Serialize)]
pub struct SiteExplanation {
    /// Method.
    pub method: String,
    /// Host in lower case, without a final dot.
    pub host: String,
    /// Path and query as sent.
    pub target: String,
    /// Selected server; `None` if the path was rejected before.
    pub server: Option<ServerChoice>,
    /// Steps in order.
    pub hops: Vec<Hop>,
    /// Reason for rejecting the path.
    pub refused: Option<String>,
    /// Server or location that handles the request.
    pub place: Option<BlockRef>,
    /// Description of the response.
    pub answer: String,
}

impl Sites {
    /// Explains how a request is handled.
    ///
    /// # Cost
    /// Linear in the number of locations, and allocates; not for the request path.
    pub fn explain(&self, address: usize, request: &SiteRequest<'_>) -> SiteExplanation {
        let (mut walk, mut scratch, mut trace) =
            (NginxRequestState::default(), RouteScratch::new(), Trace::default());
        let outcome =
            self.walk_by(SearchMode::Plain, address, request, &mut walk, &mut scratch, Some(&mut trace));
        let mut text = Vec::new();
        let answer = match outcome {
            NginxOutcome::Proxy { .. } => {
                match self.lookup(request, &mut walk, &mut scratch).write_target(&mut text) {
                    Ok(()) => format!("proxy_pass, request target {}", shown(&text)),
                    Err(fault) => format!("500: {fault}"),
                }
            }
            NginxOutcome::Text { status } => format!("{status} {}", shown(walk.text())),
            NginxOutcome::Redirect { status } => {
                self.write_location(request, &mut walk, &mut text);
                format!("{status} to {}", shown(&text))
            }
            NginxOutcome::Status { status } => status.to_string(),
            NginxOutcome::Close => "the connection is closed".to_owned(),
        };
        let place = trace.refused.is_none().then(|| place_ref(&self.places()[walk.place as usize]));
        SiteExplanation {
            method: shown(request.method),
            host: shown(&walk.host),
            target: shown(request.target),
            server: trace.server,
            hops: trace.hops,
            refused: trace.refused,
            place,
            answer,
        }
    }
}

impl fmt::Display for SiteExplanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.is_empty() { "no host" } else { &self.host };
        writeln!(out, "request     {} {} at {host}", self.method, self.target)?;
        if let Some(refused) = &self.refused {
            return writeln!(out, "refused     {refused}");
        }
        if let Some(choice) = &self.server {
            writeln!(out, "server      {}\n  why       {}", choice.server, choice.why)?;
        }
        for hop in &self.hops {
            let query = if hop.query.is_empty() { String::new() } else { format!("?{}", hop.query) };
            match &hop.place {
                Some(place) => writeln!(
                    out,
                    "path        {}{query}\nlocation    {place}\n  why       {}",
                    hop.path, hop.why
                )?,
                None => writeln!(out, "rewritten   {}{query}\n  by        {}", hop.path, hop.why)?,
            }
            for other in &hop.others {
                writeln!(out, "  not       {}: {}", other.place, other.why)?;
            }
        }
        if let Some(place) = &self.place {
            writeln!(out, "place       {place}")?;
        }
        writeln!(out, "response    {}", self.answer)
    }
}
