//! Clusters of a configuration under construction.

use eddy_ids::Shared;
use eddy_model::ClusterConfig;

use super::names::NameRegistry;
use crate::problem::{ProblemReport, SourceSpan};
use crate::read::Spanned;
use crate::value::ConfigName;

/// Clusters so far, by name. An index that was handed out stays valid.
#[derive(Debug)]
pub(crate) struct ClusterDraft {
    list: Vec<ClusterConfig>,
    names: NameRegistry,
}

/// Another cluster has the name; the index is that cluster's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterNameTaken(pub(crate) usize);

impl ClusterDraft {
    /// Creates a draft without clusters.
    pub(crate) fn new() -> Self {
        Self { list: Vec::new(), names: NameRegistry::new("cluster") }
    }

    /// Reserves the name of a cluster that could not be read, so that references to it are no further errors.
    pub(crate) fn declare(&mut self, name: &Spanned<ConfigName>) {
        self.names.define(name, self.list.len());
    }

    /// Adds a cluster that is named at `place`; returns its index.
    ///
    /// # Errors
    /// [`ClusterNameTaken`] when the name is in use; nothing is added then.
    pub(crate) fn define(
        &mut self,
        cluster: ClusterConfig,
        place: SourceSpan,
    ) -> Result<usize, ClusterNameTaken> {
        if let Some(index) = self.names.index_of(&cluster.name) {
            return Err(ClusterNameTaken(index));
        }
        let name = Spanned { value: ConfigName(Shared::clone(&cluster.name)), place };
        self.names.define(&name, self.list.len());
        self.list.push(cluster);
        Ok(self.list.len() - 1)
    }

    /// Adds a cluster, as [`Self::define`] does, that counts as used.
    ///
    /// # Errors
    /// As [`Self::define`].
    pub(crate) fn define_used(
        &mut self,
        cluster: ClusterConfig,
        place: SourceSpan,
    ) -> Result<usize, ClusterNameTaken> {
        let index = self.define(cluster, place)?;
        self.names.note_use(&self.list[index].name);
        Ok(index)
    }

    /// Returns the index of the cluster with this name, which then counts as used; reports a name that is not defined.
    pub(crate) fn resolve(
        &mut self,
        name: &Spanned<ConfigName>,
        report: &mut ProblemReport,
    ) -> Option<usize> {
        self.names.resolve(name, report)
    }

    /// Returns the index of the cluster with this name, if there is one.
    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        self.names.index_of(name)
    }

    /// Returns the cluster at an index.
    pub(crate) fn get(&self, index: usize) -> Option<&ClusterConfig> {
        self.list.get(index)
    }

    /// Returns all clusters, in the order in which they were added.
    pub(crate) fn list(&self) -> &[ClusterConfig] {
        &self.list
    }

    /// Returns all clusters, for settings that concern several of them. Their names must stay.
    pub(crate) fn list_mut(&mut self) -> &mut [ClusterConfig] {
        &mut self.list
    }

    /// Returns the names of the clusters.
    pub(crate) fn names(&self) -> &NameRegistry {
        &self.names
    }

    /// Returns the clusters.
    pub(crate) fn into_list(self) -> Vec<ClusterConfig> {
        self.list
    }
}
