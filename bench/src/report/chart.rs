//! The CPU a request as a chart, in SVG.

use std::fmt::Write;

use super::filters;
use super::results::{DIRECT, Ratio, Results, Row};
use super::table::short;

/// Draws the CPU a request of every target, relative to the reference; `None` when there is nothing to draw.
///
/// Microseconds of different scenarios do not fit one axis, so bars show ratios and their labels the microseconds.
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
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-label=\"CPU a request\">"
    );
    out.push_str(STYLE);
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"24\">CPU a request, {} = 1</text>",
        if is_of_filters { "the same without the filter" } else { &results.reference }
    );
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"{MARGIN}\" y=\"42\">less is better; user and system, all processes, at saturation; \
         median ratios of {} paired {}, median µs in brackets</text>",
        results.method.rounds,
        if is_of_filters { "windows" } else { "rounds" }
    );
    draw_axis(&mut out, axis, height);
    draw_bars(&mut out, axis, &groups);
    out.push_str("</svg>\n");
    Some(out)
}

struct Group<'a> {
    scenario: &'a str,
    bars: Vec<Bar<'a>>,
}

struct Bar<'a> {
    target: &'a str,
    /// Position of the target, which gives the colour.
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

fn groups(results: &Results) -> Vec<Group<'_>> {
    let of = |scenario: &str, target: &str| {
        results.rows.iter().find(|row| row.scenario == scenario && row.target == target)?.cpu_us
    };
    let is_reference = |row: &&Row| row.target == results.reference && row.target != DIRECT;
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
        groups.push(Group { scenario: &row.scenario, bars: bars.collect() });
    }
    groups
}

/// A group a scenario, a bar a target; the colour tells the gateway.
fn groups_of_filters(results: &Results) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in results.rows.iter().filter(|row| !row.others.contains_key("rate")) {
        let (Some(cpu_us), Some(to_bare)) = (row.cpu_us, row.ratio_to_bare) else { continue };
        let gateway = row.target.split('-').next().unwrap_or_default();
        let index = ["eddy", "envoy", "nginx", "haproxy"].iter().position(|name| *name == gateway);
        let bar =
            Bar { target: &row.target, index: index.unwrap_or_default(), cpu_us, ratio: to_bare.median };
        match groups.iter_mut().find(|group| group.scenario == row.scenario) {
            Some(group) => group.bars.push(bar),
            None => groups.push(Group { scenario: &row.scenario, bars: vec![bar] }),
        }
    }
    groups
}

/// The rival's CPU over the reference's, from paired windows, as the table has it the other way round.
fn rival_ratio(results: &Results, scenario: &str, rival: &str) -> Option<f64> {
    let is_it =
        |ratio: &&Ratio| ratio.scenario == scenario && ratio.rival == rival && ratio.figure == "cpu_us";
    let ratio = results.ratios.iter().find(is_it)?.comparison.ratio.median;
    (ratio > 0.0).then(|| 1.0 / ratio)
}

fn draw_axis(out: &mut String, axis: Axis, height: f64) {
    let bottom = height - FOOT;
    let mut value = 0.0;
    while value <= axis.top + 1e-9 {
        let x = axis.x(value);
        let class = if (value - 1.0).abs() < 1e-9 { "one" } else { "grid" };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{HEAD}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
        );
        let y = bottom + 16.0;
        let _ = writeln!(
            out,
            "<text class=\"small\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y}\">{value:.1}</text>"
        );
        value += 0.5;
    }
}

fn draw_bars(out: &mut String, axis: Axis, groups: &[Group<'_>]) {
    let mut y = HEAD;
    for group in groups {
        y += GAP;
        let middle = y + group.bars.len() as f64 * BAR / 2.0 + 4.0;
        let _ = writeln!(
            out,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
            LEFT - LABEL,
            group.scenario
        );
        for bar in &group.bars {
            let width = axis.x(bar.ratio) - LEFT;
            let colour = COLOURS.get(bar.index % COLOURS.len()).copied().unwrap_or_default();
            let base = y + BAR - 4.0;
            let _ = writeln!(
                out,
                "<text class=\"small\" text-anchor=\"end\" x=\"{:.1}\" y=\"{base:.1}\">{}</text>",
                LEFT - 6.0,
                bar.target
            );
            let _ = writeln!(
                out,
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                y + 1.0,
                BAR - 2.0
            );
            let _ = writeln!(
                out,
                "<text class=\"small\" x=\"{:.1}\" y=\"{base:.1}\">{:.2} ({} µs)</text>",
                LEFT + width + 4.0,
                bar.ratio,
                short(bar.cpu_us)
            );
            y += BAR;
        }
    }
}

/// Colours that keep apart on white and on near black, for readers who see fewer of them too.
pub(super) const COLOURS: &[&str] = &["#2f81f7", "#1a9e6e", "#c98500", "#b65fd0", "#8b949e"];
/// What texts and lines look like, on white and on near black.
pub(super) const STYLE: &str = "<style>\ntext { font: 13px system-ui, sans-serif; fill: #1f2328 }\n\
    .title { font-size: 17px; font-weight: 600 }\n.small { font-size: 11px }\n\
    .grid { stroke: #d0d7de }\n.one { stroke: #57606a; stroke-dasharray: 4 3 }\n\
    @media (prefers-color-scheme: dark) {\n  text { fill: #e6edf3 }\n  .grid { stroke: #30363d }\n  \
    .one { stroke: #9198a1 }\n}\n</style>\n";
const WIDTH: f64 = 860.0;
const MARGIN: f64 = 20.0;
const LEFT: f64 = 220.0;
/// Room for the name of a target.
const LABEL: f64 = 104.0;
const RIGHT: f64 = 110.0;
const HEAD: f64 = 56.0;
const FOOT: f64 = 30.0;
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
        assert!(text.contains("the same without the filter = 1"));
    }

    #[test]
    fn bars_end_where_the_axis_says() {
        let axis = Axis { top: 1.5 };
        assert!((axis.x(0.0) - LEFT).abs() < 1e-9);
        assert!((axis.x(1.5) - (WIDTH - RIGHT)).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_drawn_from_nothing() {
        assert_eq!(svg(&Results::default()), None);
    }
}
