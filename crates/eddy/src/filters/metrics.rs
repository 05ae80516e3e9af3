//! Metrics defined by filters, in the Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use eddy_filter::{MetricKind, MetricLabels, MetricView};

/// Values by metric name, and by filter (`None` for metrics of a library itself) and labels.
type Families = BTreeMap<Arc<str>, BTreeMap<(Option<String>, MetricLabels), MetricView>>;

/// Returns the metrics of libraries by name, without histograms and metrics with labels.
pub(crate) fn library_figures(views: &[MetricView]) -> BTreeMap<String, i64> {
    let of_libraries = views.iter().filter(|view| view.filter == 0 && view.kind != MetricKind::Histogram);
    let of_libraries = of_libraries.filter(|view| view.labels.is_empty());
    let figure = |view: &MetricView| Some((view.name.to_string(), view.values.first()?.cast_signed()));
    of_libraries.filter_map(figure).collect()
}

/// Writes all metrics; `name_of` returns the name of a filter by its number. Number 0 is the library itself.
///
/// A filter that is created again by a reload continues the count of its predecessor, so values of the same name,
/// filter and labels are added up. If metrics share a name but differ otherwise, the newest is written.
pub(crate) fn write_metrics(out: &mut String, views: Vec<MetricView>, name_of: impl Fn(u32) -> String) {
    let (of_libraries, of_filters) = views.into_iter().partition(|view: &MetricView| view.filter == 0);
    write_families(out, "library", "a filter library", families(of_libraries, |_| None));
    write_families(out, "filter", "a filter", families(of_filters, |number| Some(name_of(number))));
}

fn write_families(out: &mut String, whose: &str, who: &str, families: Families) {
    for (name, by_filter) in families {
        let Some(kind) = by_filter.values().map(|view| view.kind).next_back() else { continue };
        let word = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        // Writing to a string never fails.
        let name = format!("eddy_{whose}_{name}");
        let _ = writeln!(out, "# HELP {name} Defined by {who}.\n# TYPE {name} {word}");
        for ((filter, _), view) in by_filter.iter().filter(|(_, view)| view.kind == kind) {
            write_values(out, &name, filter.as_deref(), view);
        }
    }
}

fn families(views: Vec<MetricView>, name_of: impl Fn(u32) -> Option<String>) -> Families {
    let mut families = Families::new();
    for view in views {
        let of_name = families.entry(Arc::clone(&view.name)).or_default();
        let key = (name_of(view.filter), Arc::clone(&view.labels));
        match of_name.get_mut(&key).filter(|known| known.kind == view.kind && known.bounds == view.bounds) {
            Some(known) => {
                for (sum, value) in known.values.iter_mut().zip(&view.values) {
                    *sum = sum.wrapping_add(*value);
                }
            }
            None => {
                of_name.insert(key, view);
            }
        }
    }
    families
}

fn write_values(out: &mut String, name: &str, filter: Option<&str>, view: &MetricView) {
    let own = view.labels.iter().map(|(key, value)| (&**key, &**value));
    let labels = filter.map(|filter| ("filter", filter)).into_iter().chain(own);
    let label = |(key, value): (&str, &str)| {
        format!("{key}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    };
    let labels = labels.map(label).collect::<Vec<_>>().join(",");
    let (only, and) =
        if labels.is_empty() { Default::default() } else { (format!("{{{labels}}}"), format!("{labels},")) };
    let first = view.values.first().copied().unwrap_or(0);
    let _ = match view.kind {
        MetricKind::Counter => writeln!(out, "{name}{only} {first}"),
        MetricKind::Gauge => {
            writeln!(out, "{name}{only} {}", first.cast_signed())
        }
        MetricKind::Histogram => {
            let (counts, sum) =
                view.values.split_at(view.bounds.len().saturating_add(1).min(view.values.len()));
            let mut below = 0_u64;
            for (index, count) in counts.iter().enumerate() {
                below = below.wrapping_add(*count);
                let bound = view.bounds.get(index).map_or_else(|| "+Inf".to_owned(), u64::to_string);
                let _ = writeln!(out, "{name}_bucket{{{and}le=\"{bound}\"}} {below}");
            }
            let sum = sum.first().copied().unwrap_or(0);
            writeln!(out, "{name}_sum{only} {sum}\n{name}_count{only} {below}")
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(filter: u32, name: &str, kind: MetricKind, bounds: &[u64], values: &[u64]) -> MetricView {
        let labels = match name.split_once(';').and_then(|(_, label)| label.split_once('=')) {
            Some((key, value)) => [(key.into(), value.into())].into(),
            None => MetricLabels::default(),
        };
        let name = name.split(';').next().unwrap().into();
        MetricView { filter, name, labels, kind, bounds: bounds.into(), values: values.to_vec() }
    }

    #[test]
    fn metrics_of_a_filter_are_shown_by_name() {
        let views = vec![
            view(1, "hits", MetricKind::Counter, &[], &[3]),
            view(2, "open", MetricKind::Gauge, &[], &[u64::MAX]),
            view(3, "hits", MetricKind::Counter, &[], &[4]),
            view(3, "hits;route=a\"b", MetricKind::Counter, &[], &[5]),
            view(0, "lag;of=x", MetricKind::Histogram, &[5], &[1, 0, 3]),
            view(2, "size", MetricKind::Histogram, &[10, 20], &[1, 2, 3, 99]),
            view(0, "go_goroutines", MetricKind::Gauge, &[], &[12]),
            view(0, "lag", MetricKind::Histogram, &[5], &[1, 0, 3]),
        ];
        assert_eq!(library_figures(&views), [("go_goroutines".to_owned(), 12)].into());
        let mut out = String::new();
        write_metrics(
            &mut out,
            views,
            |filter| if filter == 2 { "a\"b".to_owned() } else { "auth".to_owned() },
        );
        let expected = "\
# HELP eddy_library_go_goroutines Defined by a filter library.
# TYPE eddy_library_go_goroutines gauge
eddy_library_go_goroutines 12
# HELP eddy_library_lag Defined by a filter library.
# TYPE eddy_library_lag histogram
eddy_library_lag_bucket{le=\"5\"} 1
eddy_library_lag_bucket{le=\"+Inf\"} 1
eddy_library_lag_sum 3
eddy_library_lag_count 1
eddy_library_lag_bucket{of=\"x\",le=\"5\"} 1
eddy_library_lag_bucket{of=\"x\",le=\"+Inf\"} 1
eddy_library_lag_sum{of=\"x\"} 3
eddy_library_lag_count{of=\"x\"} 1
# HELP eddy_filter_hits Defined by a filter.
# TYPE eddy_filter_hits counter
eddy_filter_hits{filter=\"auth\"} 7
eddy_filter_hits{filter=\"auth\",route=\"a\\\"b\"} 5
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
