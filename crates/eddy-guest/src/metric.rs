//! Metric names and histogram bounds for guests whose interfaces leave them to the host.

/// Converts a name to a valid metric name: characters other than letters, digits and `_` become `_`.
pub(crate) fn plain_name(name: &[u8]) -> String {
    let plain = |byte: &u8| if byte.is_ascii_alphanumeric() { char::from(*byte) } else { '_' };
    let mut text: String = name.iter().map(plain).collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// Histogram bounds; neither modules nor scripts can specify them.
pub(crate) const BOUNDS: [u64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 10_000_000,
];

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn metric_names_are_sanitized() {
        for (name, expected) in [("hits", "hits"), ("a.b-c;d=e", "a_b_c_d_e"), ("2xx", "_2xx"), ("ä", "__")]
        {
            assert_eq!(plain_name(name.as_bytes()), expected);
        }
    }
}
