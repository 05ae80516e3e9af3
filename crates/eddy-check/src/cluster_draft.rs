//! Clusters of a configuration under construction.

use eddy_config::ClusterSlots;
use eddy_ids::{ClusterId, DuplicateKey, Shared, SlotsDraft};
use eddy_model::ClusterConfig;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;
use eddy_spec::value::ConfigName;

use super::names::{NameRegistry, free_name};

/// Clusters so far, by name.
#[derive(Debug)]
pub struct ClusterDraft<'l> {
    slots: SlotsDraft<'l, ClusterId, Shared<str>, ClusterConfig>,
    names: NameRegistry<ClusterId>,
}

impl<'l> ClusterDraft<'l> {
    /// Creates a draft without clusters; those with a name of the last configuration get the same identifier.
    pub fn new(last: &'l ClusterSlots) -> Self {
        Self { slots: last.draft(), names: NameRegistry::new("cluster") }
    }

    /// Reserves the name of a cluster that could not be read or is not defined, so that references to it are no further
    /// errors.
    pub fn declare(&mut self, name: &Spanned<ConfigName>) -> ClusterId {
        let id = self.slots.reserve(Shared::clone(&name.value.0));
        self.names.define(name, id);
        id
    }

    /// Adds a cluster that is named at `place`.
    ///
    /// # Errors
    /// [`DuplicateKey`] with the cluster that has the name already; nothing is added then.
    pub fn define(
        &mut self,
        cluster: ClusterConfig,
        place: SourceSpan,
    ) -> Result<ClusterId, DuplicateKey<ClusterId>> {
        let name = Spanned { value: ConfigName(Shared::clone(&cluster.name)), place };
        let id = self.slots.define(Shared::clone(&cluster.name), cluster)?;
        self.names.define(&name, id);
        Ok(id)
    }

    /// Adds a cluster, as [`Self::define`] does. It counts as used, and so does a cluster that has the name already.
    ///
    /// # Errors
    /// As [`Self::define`].
    pub fn define_used(
        &mut self,
        cluster: ClusterConfig,
        place: SourceSpan,
    ) -> Result<ClusterId, DuplicateKey<ClusterId>> {
        let name = Shared::clone(&cluster.name);
        let done = self.define(cluster, place);
        self.names.note_use(&name);
        done
    }

    /// Adds a cluster under its name, with a number behind it if another cluster has the name. It counts as used.
    pub fn define_numbered(&mut self, cluster: ClusterConfig, place: SourceSpan) -> ClusterId {
        let name = free_name(&cluster.name, |name| self.slots.has_value(name));
        self.define_used(ClusterConfig { name, ..cluster }, place).expect("the name is not taken")
    }

    /// Returns the cluster with this name, which then counts as used; reports a name that is not defined.
    pub fn resolve(&mut self, name: &Spanned<ConfigName>, report: &mut ProblemReport) -> Option<ClusterId> {
        self.names.resolve(name, report)
    }

    /// Returns the cluster with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<ClusterId> {
        self.slots.id_of(name)
    }

    /// Returns a cluster, unless it could not be read.
    pub fn get(&self, id: ClusterId) -> Option<&ClusterConfig> {
        self.slots.get(id)
    }

    /// Returns all clusters, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (ClusterId, &ClusterConfig)> {
        self.slots.iter()
    }

    /// Changes clusters in the order in which they were added. Their names must stay.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(ClusterId, &mut ClusterConfig)) {
        let ids: Vec<ClusterId> = self.slots.iter().map(|(id, _)| id).collect();
        for id in ids {
            if let Some(cluster) = self.slots.get_mut(id) {
                change(id, cluster);
            }
        }
    }

    /// Returns the names of the clusters.
    pub fn names(&self) -> &NameRegistry<ClusterId> {
        &self.names
    }

    /// Returns the clusters.
    pub fn finish(self) -> ClusterSlots {
        self.slots.finish()
    }
}
