//! Ingresses and IngressClasses, as written.

use crate::dialect::kubernetes::ApiText;
use crate::read::{Any, Spanned};
use crate::value::Number;

object! {
    /// Spec of an Ingress.
    IngressSpec as "the spec of an Ingress" {
        /// Name of its IngressClass.
        optional class "ingressClassName": ApiText;
        /// Backend of requests that match no rule.
        optional default_backend "defaultBackend": BackendSpec;
        /// Paths, by host.
        optional rules "rules": Vec<Spanned<RuleSpec>>;
        /// Hosts with a certificate.
        optional tls "tls": Vec<Spanned<TlsSpec>>;
    }
}

object! {
    /// Paths of a host.
    RuleSpec as "a rule of an Ingress" {
        /// Host; any when absent.
        optional host "host": ApiText;
        /// Paths.
        optional http "http": HttpSpec;
    }
}

object! {
    /// Paths of a rule.
    HttpSpec as "`http` of an Ingress" {
        /// Paths.
        required paths "paths": Vec<Spanned<PathSpec>>;
    }
}

object! {
    /// Path and its backend.
    PathSpec as "a path of an Ingress" {
        /// Path.
        optional path "path": ApiText;
        /// Path type.
        required kind "pathType": ApiText;
        /// Backend of requests for the path.
        required backend "backend": BackendSpec;
    }
}

object! {
    /// Backend that requests are sent to.
    BackendSpec as "a backend of an Ingress" {
        /// Port of a Service.
        optional service "service": ServiceBackendSpec;
        /// Other resource.
        optional resource "resource": Any;
    }
}

object! {
    /// Port of a Service.
    ServiceBackendSpec as "a Service of an Ingress" {
        /// Name of the Service.
        required name "name": ApiText;
        /// Port of the Service.
        required port "port": BackendPortSpec;
    }
}

object! {
    /// Port, by number or name.
    BackendPortSpec as "a port of an Ingress" {
        /// Port number.
        optional number "number": Number<1, 65_535>;
        /// Port name.
        optional name "name": ApiText;
    }
}

object! {
    /// Hosts with a certificate.
    TlsSpec as "`tls` of an Ingress" {
        /// Hosts.
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// Name of the Secret with certificate and key.
        optional secret "secretName": ApiText;
    }
}

object! {
    /// Spec of an IngressClass.
    ClassSpec as "the spec of an IngressClass" {
        /// Controller that serves its Ingresses.
        required controller "controller": ApiText;
        passed "parameters";
    }
}
