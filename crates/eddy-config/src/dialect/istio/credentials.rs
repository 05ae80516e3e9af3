//! Certificates, keys and authorities of Secrets and files.

use std::path::PathBuf;
use std::sync::Arc;

use eddy_tls::WrittenPath;

use crate::check::written_place;
use crate::dialect::kubernetes::{ApiText, SecretFault, Secrets};
use crate::problem::{SourceSpan, SourceText};
use crate::read::Spanned;
use crate::tls::CertificateFiles;
use crate::value::ObjectName;

/// Finds them for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credentials<'c> {
    pub(super) secrets: &'c Secrets,
    pub(super) sources: &'c [SourceText],
    /// The namespace of the object, where its Secrets are.
    pub(super) namespace: &'c Arc<str>,
}

impl Credentials<'_> {
    /// The certificate of a Secret with its key, for the hosts that it names.
    ///
    /// # Errors
    /// There is no such Secret, or it holds something else; as a message.
    pub(super) fn certificate(self, secret: &ApiText) -> Result<CertificateFiles, String> {
        let name = self.object(&secret.0);
        let found = self.secrets.certificate(&name, self.sources);
        found.map_err(|fault: SecretFault| fault.message_for(&name))
    }

    /// The authorities of a Secret: its own, or those of the one beside it that is called `NAME-cacert`.
    pub(super) fn authorities(self, secret: &ApiText) -> Option<WrittenPath> {
        let beside = self.object(&format!("{}-cacert", secret.0));
        let own = self.secrets.authorities(&self.object(&secret.0), self.sources);
        own.or_else(|| self.secrets.authorities(&beside, self.sources))
    }

    /// A file by its path, a relative one from where eddy runs.
    pub(super) fn file(self, path: &Spanned<ApiText>) -> WrittenPath {
        WrittenPath { path: PathBuf::from(&*path.value.0), text: None, place: self.written(path.place) }
    }

    /// A place, for problems that show later.
    pub(super) fn written(self, place: SourceSpan) -> eddy_tls::WrittenPlace {
        written_place(place, self.sources)
    }

    fn object(self, name: &str) -> ObjectName {
        ObjectName { namespace: Arc::clone(self.namespace), name: name.into() }
    }
}
