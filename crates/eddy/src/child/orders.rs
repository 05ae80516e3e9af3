//! Metrics of ACME certificate orders.

use std::collections::BTreeMap;
use std::fmt::Write;

use eddy_acme::CertificateView;

/// Writes the metrics of certificate orders; nothing if no certificates are ordered.
pub(super) fn write_orders(out: &mut String, certificates: &BTreeMap<String, CertificateView>) {
    if certificates.is_empty() {
        return;
    }
    out.push_str(
        "# HELP eddy_acme_certificate_expiry_timestamp_seconds Expiry of an ACME certificate, in seconds since 1970; 0 without a certificate.\n\
         # TYPE eddy_acme_certificate_expiry_timestamp_seconds gauge\n",
    );
    // Certificate names are host names, so they need no escaping. Writing to a string never fails.
    for (name, view) in certificates {
        let expires = view.expires_at.unwrap_or(0);
        let _ = writeln!(
            out,
            "eddy_acme_certificate_expiry_timestamp_seconds{{certificate=\"{name}\"}} {expires}"
        );
    }
    out.push_str(
        "# HELP eddy_acme_orders_total Finished certificate orders, by result.\n\
         # TYPE eddy_acme_orders_total counter\n",
    );
    for (name, view) in certificates {
        for (result, count) in [("issued", view.issued), ("failed", view.failed)] {
            let _ =
                writeln!(out, "eddy_acme_orders_total{{certificate=\"{name}\",result=\"{result}\"}} {count}");
        }
    }
}
