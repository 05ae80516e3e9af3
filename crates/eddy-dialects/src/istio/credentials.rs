//! Certificates, keys and authorities, from Secrets and files.

use std::path::PathBuf;

use eddy_check::source_position;
use eddy_config::CertificateFiles;
use eddy_ids::Shared;
use eddy_model::WrittenPath;
use eddy_spec::problem::{SourceSpan, SourceText};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use crate::kubernetes::{ApiText, SecretFault, Secrets};

/// Reader of the credentials of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credentials<'c> {
    pub(super) secrets: &'c Secrets,
    pub(super) sources: &'c [SourceText],
    /// Namespace of the object and its Secrets.
    pub(super) namespace: &'c Shared<str>,
}

impl Credentials<'_> {
    /// Returns the certificate and key in a Secret, for the hosts that the certificate names.
    ///
    /// # Errors
    /// A message when there is no such Secret, or it holds something else.
    pub(super) fn certificate(self, secret: &ApiText) -> Result<CertificateFiles, String> {
        let name = self.object(&secret.0);
        let found = self.secrets.certificate(&name, self.sources);
        found.map_err(|fault: SecretFault| fault.message_for(&name))
    }

    /// Returns the authorities in a Secret, or else those in the Secret `NAME-cacert` next to it.
    pub(super) fn authorities(self, secret: &ApiText) -> Option<WrittenPath> {
        let beside = self.object(&format!("{}-cacert", secret.0));
        let own = self.secrets.authorities(&self.object(&secret.0), self.sources);
        own.or_else(|| self.secrets.authorities(&beside, self.sources))
    }

    /// Returns a file by its path; a relative path is resolved against the working directory of eddy.
    pub(super) fn file(self, path: &Spanned<ApiText>) -> WrittenPath {
        WrittenPath { path: PathBuf::from(&*path.value.0), text: None, place: self.written(path.place) }
    }

    /// Converts a source position, for problems that are found later.
    pub(super) fn written(self, place: SourceSpan) -> eddy_model::SourcePosition {
        source_position(place, self.sources)
    }

    fn object(self, name: &str) -> ObjectName {
        ObjectName { namespace: Shared::clone(self.namespace), name: name.into() }
    }
}
