//! Where the parts of an NGINX configuration go.

use eddy_check::ClusterDraft;
use eddy_ids::Shared;
use eddy_spec::problem::SourceSpan;

/// Where the parts of an NGINX configuration go.
pub(crate) struct NginxOutput<'o, 'l> {
    /// Clusters that the configuration adds to.
    pub(crate) clusters: &'o mut ClusterDraft<'l>,
    /// Index of the NGINX configuration.
    pub(crate) sites: usize,
    /// Table that the configuration is read for: its clusters are named `TABLE/NAME`, and no others may have such names.
    pub(crate) table: Option<&'o Shared<str>>,
    /// Position of the configuration in the text that names it.
    pub(crate) place: SourceSpan,
}
