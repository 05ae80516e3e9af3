//! Destinations and string matches, as written.

use eddy_spec::value::Number;

use crate::kubernetes::ApiText;

object! {
    /// Destination of requests.
    DestinationSpec as "a destination" {
        /// Host name.
        required host "host": ApiText;
        /// Name of a subset of the endpoints.
        optional subset "subset": ApiText;
        /// Port.
        optional port "port": PortSpec;
    }
}

object! {
    /// Port by number.
    PortSpec as "a destination port" {
        /// Port number.
        required number "number": Number<1, 65_535>;
    }
}

object! {
    /// Test of a string.
    TextMatchSpec as "a string match (`exact`, `prefix` or `regex`)" {
        /// Whole string.
        optional exact "exact": ApiText;
        /// Prefix.
        optional prefix "prefix": ApiText;
        /// Regular expression for the whole string.
        optional regex "regex": ApiText;
    }
}
