//! Policies that restrict who may send requests, as written.

use eddy_spec::read::Any;

use super::Labels;

object! {
    /// Spec of an AuthorizationPolicy or a RequestAuthentication: what it applies to.
    AccessPolicySpec as "an access policy spec" {
        /// Workloads of its namespace; all of them where it is absent.
        optional selector "selector": WorkloadSelectorSpec;
        /// Object that it applies to.
        optional target "targetRef": Any;
        /// Objects that it applies to.
        optional targets "targetRefs": Any;
        passed "rules" "action" "provider" "jwtRules";
    }
}

object! {
    /// Selector of workloads.
    WorkloadSelectorSpec as "a workload selector" {
        /// Labels of the workloads.
        optional labels "matchLabels": Labels;
    }
}
