//! The metrics that filters define, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use eddy_filter::{MetricKind, MetricView};

/// A metric by name, then its values by filter.
type Families = BTreeMap<Arc<str>, BTreeMap<String, MetricView>>;

/// Writes all metrics; `name_of` knows the filters by number.
///
/// A filter that was made anew by a reload goes on counting where the one before it stopped, so values of one name and
/// filter are added up. Of metrics that share a name and differ otherwise, the newest is shown.
pub(crate) fn write_metrics(out: &mut String, views: Vec<MetricView>, name_of: impl Fn(u32) -> String) {
    for (name, by_filter) in families(views, name_of) {
        let Some(kind) = by_filter.values().map(|view| view.kind).next_back() else { continue };
        let word = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        // Writing to a string never fails.
        let _ =
            writeln!(out, "# HELP eddy_filter_{name} Defined by a filter.\n# TYPE eddy_filter_{name} {word}");
        for (filter, view) in by_filter.iter().filter(|(_, view)| view.kind == kind) {
            write_values(out, &name, filter, view);
        }
    }
}

fn families(views: Vec<MetricView>, name_of: impl Fn(u32) -> String) -> Families {
    let mut families = Families::new();
    for view in views {
        let of_name = families.entry(Arc::clone(&view.name)).or_default();
        let filter = name_of(view.filter);
        match of_name.get_mut(&filter).filter(|known| known.kind == view.kind && known.bounds == view.bounds)
        {
            Some(known) => {
                for (sum, value) in known.values.iter_mut().zip(&view.values) {
                    *sum = sum.wrapping_add(*value);
                }
            }
            None => {
                of_name.insert(filter, view);
            }
        }
    }
    families
}

fn write_values(out: &mut String, name: &str, filter: &str, view: &MetricView) {
    let filter = filter.replace('\\', "\\\\").replace('"', "\\\"");
    let first = view.values.first().copied().unwrap_or(0);
    let _ = match view.kind {
        MetricKind::Counter => writeln!(out, "eddy_filter_{name}{{filter=\"{filter}\"}} {first}"),
        MetricKind::Gauge => {
            writeln!(out, "eddy_filter_{name}{{filter=\"{filter}\"}} {}", first.cast_signed())
        }
        MetricKind::Histogram => {
            let (counts, sum) =
                view.values.split_at(view.bounds.len().saturating_add(1).min(view.values.len()));
            let mut below = 0_u64;
            for (index, count) in counts.iter().enumerate() {
                below = below.wrapping_add(*count);
                let bound = view.bounds.get(index).map_or_else(|| "+Inf".to_owned(), u64::to_string);
                let _ =
                    writeln!(out, "eddy_filter_{name}_bucket{{filter=\"{filter}\",le=\"{bound}\"}} {below}");
            }
            let sum = sum.first().copied().unwrap_or(0);
            writeln!(
                out,
                "eddy_filter_{name}_sum{{filter=\"{filter}\"}} {sum}\neddy_filter_{name}_count{{filter=\"{filter}\"}} {below}"
            )
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(filter: u32, name: &str, kind: MetricKind, bounds: &[u64], values: &[u64]) -> MetricView {
        MetricView { filter, name: name.into(), kind, bounds: bounds.into(), values: values.to_vec() }
    }

    #[test]
    fn what_filters_count_is_shown_by_name() {
        let views = vec![
            view(1, "hits", MetricKind::Counter, &[], &[3]),
            view(2, "open", MetricKind::Gauge, &[], &[u64::MAX]),
            view(3, "hits", MetricKind::Counter, &[], &[4]),
            view(2, "size", MetricKind::Histogram, &[10, 20], &[1, 2, 3, 99]),
        ];
        let mut out = String::new();
        write_metrics(
            &mut out,
            views,
            |filter| if filter == 2 { "a\"b".to_owned() } else { "auth".to_owned() },
        );
        let expected = "\
# HELP eddy_filter_hits Defined by a filter.
# TYPE eddy_filter_hits counter
eddy_filter_hits{filter=\"auth\"} 7
# HELP eddy_filter_open Defined by a filter.
# TYPE eddy_filter_open gauge
eddy_filter_open{filter=\"a\\\"b\"} -1
# HELP eddy_filter_size Defined by a filter.
# TYPE eddy_filter_size histogram
eddy_filter_size_bucket{filter=\"a\\\"b\",le=\"10\"} 1
eddy_filter_size_bucket{filter=\"a\\\"b\",le=\"20\"} 3
eddy_filter_size_bucket{filter=\"a\\\"b\",le=\"+Inf\"} 6
eddy_filter_size_sum{filter=\"a\\\"b\"} 99
eddy_filter_size_count{filter=\"a\\\"b\"} 6
";
        assert_eq!(out, expected);
    }
}
