//! Ingresses and their classes as written.

use crate::dialect::kubernetes::ApiText;
use crate::read::{Any, Spanned};
use crate::value::Number;

object! {
    /// The spec of an Ingress.
    IngressSpec as "the spec of an Ingress" {
        /// The class that it belongs to.
        optional class "ingressClassName": ApiText;
        /// Where requests go that no rule is for.
        optional default_backend "defaultBackend": BackendSpec;
        /// The paths, by host.
        optional rules "rules": Vec<Spanned<RuleSpec>>;
        /// Hosts that have a certificate.
        optional tls "tls": Vec<Spanned<TlsSpec>>;
    }
}

object! {
    /// The paths of a host.
    RuleSpec as "a rule of an Ingress" {
        /// The host; none for any.
        optional host "host": ApiText;
        /// Its paths.
        optional http "http": HttpSpec;
    }
}

object! {
    /// The paths of a rule.
    HttpSpec as "`http` of an Ingress" {
        /// The paths.
        required paths "paths": Vec<Spanned<PathSpec>>;
    }
}

object! {
    /// A path and where its requests go.
    PathSpec as "a path of an Ingress" {
        /// The path.
        optional path "path": ApiText;
        /// How it is compared.
        required kind "pathType": ApiText;
        /// Where its requests go.
        required backend "backend": BackendSpec;
    }
}

object! {
    /// Where requests go.
    BackendSpec as "a backend of an Ingress" {
        /// A port of a Service.
        optional service "service": ServiceBackendSpec;
        /// Something else.
        optional resource "resource": Any;
    }
}

object! {
    /// A port of a Service.
    ServiceBackendSpec as "a Service of an Ingress" {
        /// The Service.
        required name "name": ApiText;
        /// Its port.
        required port "port": BackendPortSpec;
    }
}

object! {
    /// A port, by number or name.
    BackendPortSpec as "a port of an Ingress" {
        /// Its number.
        optional number "number": Number<1, 65_535>;
        /// Its name.
        optional name "name": ApiText;
    }
}

object! {
    /// Hosts that have a certificate.
    TlsSpec as "`tls` of an Ingress" {
        /// The hosts.
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// The Secret with certificate and key.
        optional secret "secretName": ApiText;
    }
}

object! {
    /// The spec of an IngressClass.
    ClassSpec as "the spec of an IngressClass" {
        /// Who serves its Ingresses.
        required controller "controller": ApiText;
        passed "parameters";
    }
}
