//! Ingresses and IngressClasses, as written.

use eddy_spec::read::{Any, Spanned};
use eddy_spec::value::Number;

use crate::kubernetes::ApiText;

object! {
    /// Spec of an Ingress.
    IngressSpec as "an Ingress spec" {
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
    RuleSpec as "an Ingress rule" {
        /// Host; any when absent.
        optional host "host": ApiText;
        /// Paths.
        optional http "http": HttpSpec;
    }
}

object! {
    /// Paths of a rule.
    HttpSpec as "the `http` of an Ingress" {
        required paths "paths": Vec<Spanned<PathSpec>>;
    }
}

object! {
    /// Path and its backend.
    PathSpec as "an Ingress path" {
        optional path "path": ApiText;
        required kind "pathType": ApiText;
        /// Backend of requests for the path.
        required backend "backend": BackendSpec;
    }
}

object! {
    /// Backend that requests are sent to.
    BackendSpec as "an Ingress backend" {
        /// Port of a Service.
        optional service "service": ServiceBackendSpec;
        /// Other resource.
        optional resource "resource": Any;
    }
}

object! {
    /// Port of a Service.
    ServiceBackendSpec as "an Ingress Service" {
        required name "name": ApiText;
        required port "port": BackendPortSpec;
    }
}

object! {
    /// Port, by number or name.
    BackendPortSpec as "an Ingress port" {
        optional number "number": Number<1, 65_535>;
        optional name "name": ApiText;
    }
}

object! {
    /// Hosts with a certificate.
    TlsSpec as "the `tls` of an Ingress" {
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// Name of the Secret with certificate and key.
        optional secret "secretName": ApiText;
    }
}

object! {
    /// Spec of an IngressClass.
    ClassSpec as "an IngressClass spec" {
        /// Controller that serves its Ingresses.
        required controller "controller": ApiText;
    }
    passed "parameters";
}
