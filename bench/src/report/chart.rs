//! SVG chart of the CPU time per request.

use super::drawing::{AxisLine, COLOURS, Drawing, FOOT, WIDTH};
use super::filters;
use super::results::{DIRECT, Ratio, ResultRow, Results};
use super::table::short;

/// Draws the CPU time per request of every target, relative to the reference; `None` if there is nothing to draw.
///
/// Microseconds of different scenarios do not fit one axis, so bars show ratios and their labels show microseconds.
pub fn svg(results: &Results) -> Option<String> {
    let is_of_filters = filters::is_of_filters(results);
    let groups = if is_of_filters { groups_of_filters(results) } else { groups(results) };
    let longest = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.ratio).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let axis = Axis { top: (longest * 2.0).ceil() / 2.0 };
    let bars: usize = groups.iter().map(|group| group.bars.len()).sum();
    let height = HEAD + bars as f64 * BAR + groups.len() as f64 * GAP + FOOT;
    let mut out = Drawing::new(
        "CPU per request",
        &format!(
            "CPU per request, {} = 1",
            if is_of_filters { "without the filter" } else { &results.reference }
        ),
        &format!(
            "lower is better; user and system, all processes, at saturation; median ratios of {} paired {}, \
             median µs in brackets",
            results.method.rounds,
            if is_of_filters { "windows" } else { "rounds" }
        ),
        height,
    );
    draw_axis(&mut out, axis);
    draw_bars(&mut out, axis, &groups);
    Some(out.finish())
}

struct ChartGroup<'a> {
    scenario: &'a str,
    bars: Vec<Bar<'a>>,
}

struct Bar<'a> {
    target: &'a str,
    /// Position of the target; selects the colour.
    index: usize,
    cpu_us: f64,
    ratio: f64,
}

#[derive(Clone, Copy)]
struct Axis {
    top: f64,
}

impl Axis {
    fn x(self, value: f64) -> f64 {
        LEFT + value / self.top * (WIDTH - LEFT - RIGHT)
    }
}

fn groups(results: &Results) -> Vec<ChartGroup<'_>> {
    let of = |scenario: &str, target: &str| {
        results.rows.iter().find(|row| row.scenario == scenario && row.target == target)?.cpu_us
    };
    let is_reference = |row: &&ResultRow| row.target == results.reference && row.target != DIRECT;
    let mut groups = Vec::new();
    for row in results.rows.iter().filter(is_reference) {
        if row.cpu_us.is_none() {
            continue;
        }
        let targets = results.targets.iter().map(|target| target.name.as_str()).enumerate();
        let bars = targets.filter_map(|(index, target)| {
            let cpu_us = of(&row.scenario, target)?;
            let ratio =
                if target == results.reference { 1.0 } else { rival_ratio(results, &row.scenario, target)? };
            Some(Bar { target, index, cpu_us, ratio })
        });
        groups.push(ChartGroup { scenario: &row.scenario, bars: bars.collect() });
    }
    groups
}

/// Returns a group per scenario with a bar per target; the colour identifies the gateway.
fn groups_of_filters(results: &Results) -> Vec<ChartGroup<'_>> {
    let mut groups: Vec<ChartGroup<'_>> = Vec::new();
    for row in results.rows.iter().filter(|row| !row.others.contains_key("rate")) {
        let (Some(cpu_us), Some(to_bare)) = (row.cpu_us, row.ratio_to_bare) else { continue };
        let gateway = row.target.split('-').next().unwrap_or_default();
        let index = ["eddy", "envoy", "nginx", "haproxy"].iter().position(|name| *name == gateway);
        let bar =
            Bar { target: &row.target, index: index.unwrap_or_default(), cpu_us, ratio: to_bare.median };
        match groups.iter_mut().find(|group| group.scenario == row.scenario) {
            Some(group) => group.bars.push(bar),
            None => groups.push(ChartGroup { scenario: &row.scenario, bars: vec![bar] }),
        }
    }
    groups
}

/// Returns the rival's CPU time over the reference's, from paired windows; the table shows the inverse.
fn rival_ratio(results: &Results, scenario: &str, rival: &str) -> Option<f64> {
    let is_it =
        |ratio: &&Ratio| ratio.scenario == scenario && ratio.rival == rival && ratio.figure == "cpu_us";
    let ratio = results.ratios.iter().find(is_it)?.comparison.ratio.median;
    (ratio > 0.0).then(|| 1.0 / ratio)
}

fn draw_axis(out: &mut Drawing, axis: Axis) {
    let mut value = 0.0;
    while value <= axis.top + 1e-9 {
        let line = if (value - 1.0).abs() < 1e-9 { AxisLine::One } else { AxisLine::Grid };
        out.axis(axis.x(value), HEAD, line, &format!("{value:.1}"));
        value += 0.5;
    }
}

fn draw_bars(out: &mut Drawing, axis: Axis, groups: &[ChartGroup<'_>]) {
    let mut y = HEAD;
    for group in groups {
        y += GAP;
        let middle = y + group.bars.len() as f64 * BAR / 2.0 + 4.0;
        out.add(format_args!(
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
            LEFT - LABEL,
            group.scenario
        ));
        for bar in &group.bars {
            let width = axis.x(bar.ratio) - LEFT;
            let colour = COLOURS.get(bar.index % COLOURS.len()).copied().unwrap_or_default();
            let base = y + BAR - 4.0;
            out.add(format_args!(
                "<text class=\"small\" text-anchor=\"end\" x=\"{:.1}\" y=\"{base:.1}\">{}</text>",
                LEFT - 6.0,
                bar.target
            ));
            out.add(format_args!(
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                y + 1.0,
                BAR - 2.0
            ));
            out.add(format_args!(
                "<text class=\"small\" x=\"{:.1}\" y=\"{base:.1}\">{:.2} ({} µs)</text>",
                LEFT + width + 4.0,
                bar.ratio,
                short(bar.cpu_us)
            ));
            y += BAR;
        }
    }
}

const LEFT: f64 = 220.0;
/// Width reserved for the name of a target.
const LABEL: f64 = 104.0;
const RIGHT: f64 = 110.0;
const HEAD: f64 = 56.0;
const BAR: f64 = 16.0;
const GAP: f64 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::results;

    #[test]
    fn every_target_has_a_bar_and_its_values() {
        let text = svg(&results()).unwrap();
        assert_eq!(text.matches("<rect").count(), 2);
        assert!(text.contains(">1.00 (33.0 µs)<") && text.contains(">1.33 (44.0 µs)<"), "{text}");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("idle") && !text.contains("direct"));
    }

    #[test]
    fn filters_have_a_bar_for_each_target_that_was_measured() {
        let text = svg(&filters::tests::results()).unwrap();
        assert_eq!(text.matches("<rect").count(), 3);
        assert!(text.contains(">1.50 (66.0 µs)<") && text.contains(">passthrough<"), "{text}");
        assert!(text.contains("without the filter = 1"));
    }

    #[test]
    fn bars_match_the_axis() {
        let axis = Axis { top: 1.5 };
        assert!((axis.x(0.0) - LEFT).abs() < 1e-9);
        assert!((axis.x(1.5) - (WIDTH - RIGHT)).abs() < 1e-9);
    }

    #[test]
    fn an_empty_result_gives_no_chart() {
        assert_eq!(svg(&Results::default()), None);
    }
}
