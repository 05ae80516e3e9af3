//! SVG chart for the guide: remaining throughput with a filter, by language, eddy beside Envoy.

use super::drawing::{AxisLine, COLOURS, Drawing, FOOT, MARGIN, WIDTH};
use super::results::{BaselineRatio, Results};
use crate::filters::{FilterLanguage, SCENARIOS, TARGETS};
use crate::peers::GatewayKind;

/// Draws how many requests the same CPU serves with a filter, in percent of those without it; `None` if there is
/// nothing to draw.
pub fn svg(results: &Results) -> Option<String> {
    let groups: Vec<ScenarioBars> = SHOWN.iter().filter_map(|scenario| group(results, scenario)).collect();
    let lines = groups.iter().flat_map(|group| &group.lines);
    let bars: usize = lines.clone().map(|line| line.bars.len()).sum();
    if bars == 0 {
        return None;
    }
    let height = HEAD + bars as f64 * BAR + lines.count() as f64 * GAP + groups.len() as f64 * TITLE + FOOT;
    let mut out = Drawing::new(
        "Throughput with a filter relative to no filter",
        "Throughput with a filter: requests for the same CPU, without a filter = 100 %",
        "higher is better; each relative to a listener without filters in the same process; medians of paired \
         windows, lines show quartiles",
        height,
    );
    legend(&mut out);
    draw_axis(&mut out);
    draw_groups(&mut out, &groups);
    Some(out.finish())
}

/// Bars of a scenario.
struct ScenarioBars {
    title: String,
    lines: Vec<LanguageBars>,
}

/// Bars of a language, one for each gateway that supports it.
struct LanguageBars {
    title: &'static str,
    bars: Vec<Bar>,
}

struct Bar {
    kind: GatewayKind,
    left: PercentRange,
}

/// Percentage of the bare listener's throughput.
#[derive(Clone, Copy, Debug)]
struct PercentRange {
    median: f64,
    low: f64,
    high: f64,
}

impl PercentRange {
    /// Returns the remaining percentage where a request costs `ratio` times the CPU.
    fn of(ratio: BaselineRatio) -> Option<Self> {
        let of = |times: f64| 100.0 / times;
        (ratio.q1 > 0.0).then(|| Self { median: of(ratio.median), low: of(ratio.q3), high: of(ratio.q1) })
    }
}

fn group(results: &Results, name: &str) -> Option<ScenarioBars> {
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name)?;
    let bar = |kind: GatewayKind, tongue: FilterLanguage| {
        let target = TARGETS.iter().find(|target| target.kind == kind && target.tongue == tongue)?;
        let row = results.rows.iter().find(|row| row.scenario == name && row.target == target.name)?;
        Some(Bar { kind, left: PercentRange::of(row.ratio_to_bare?)? })
    };
    let line = |tongue: FilterLanguage| {
        let bars: Vec<Bar> = GATEWAYS.iter().filter_map(|&kind| bar(kind, tongue)).collect();
        (!bars.is_empty()).then(|| LanguageBars { title: tongue.title(), bars })
    };
    let lines: Vec<LanguageBars> = LANGUAGES.into_iter().filter_map(line).collect();
    let title = format!("{name}: {}", scenario.title);
    (!lines.is_empty()).then_some(ScenarioBars { title, lines })
}

fn legend(out: &mut Drawing) {
    let mut x = WIDTH - RIGHT - 110.0;
    for kind in GATEWAYS {
        out.add(format_args!(
            "<rect x=\"{x}\" y=\"52\" width=\"10\" height=\"10\" fill=\"{}\"/>\n<text class=\"small\" x=\"{}\" y=\"61\">{kind}</text>",
            colour(kind),
            x + 14.0
        ));
        x += 60.0;
    }
}

fn draw_axis(out: &mut Drawing) {
    for percent in (0..=100).step_by(20) {
        let line = if percent == 100 { AxisLine::One } else { AxisLine::Grid };
        out.axis(x_of(f64::from(percent)), HEAD, line, &format!("{percent} %"));
    }
}

fn draw_groups(out: &mut Drawing, groups: &[ScenarioBars]) {
    let mut y = HEAD;
    for group in groups {
        out.add(format_args!("<text x=\"{MARGIN}\" y=\"{:.1}\">{}</text>", y + TITLE - 8.0, group.title));
        y += TITLE;
        for line in &group.lines {
            let middle = y + line.bars.len() as f64 * BAR / 2.0 + 4.0;
            out.add(format_args!(
                "<text class=\"small\" text-anchor=\"end\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
                LEFT - 6.0,
                line.title
            ));
            for bar in &line.bars {
                draw_bar(out, bar, y);
                y += BAR;
            }
            y += GAP;
        }
    }
}

fn draw_bar(out: &mut Drawing, bar: &Bar, y: f64) {
    let PercentRange { median, low, high } = bar.left;
    let middle = y + BAR / 2.0;
    out.add(format_args!(
        "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>\n\
         <line stroke=\"{SPAN}\" x1=\"{:.1}\" y1=\"{middle:.1}\" x2=\"{:.1}\" y2=\"{middle:.1}\"/>\n\
         <text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{median:.1} %</text>",
        y + 1.0,
        x_of(median) - LEFT,
        BAR - 2.0,
        colour(bar.kind),
        x_of(low),
        x_of(high),
        x_of(high.max(100.0)) + 6.0,
        y + BAR - 4.0
    ));
}

fn x_of(percent: f64) -> f64 {
    LEFT + percent / 100.0 * (WIDTH - LEFT - RIGHT)
}

fn colour(kind: GatewayKind) -> &'static str {
    let index = GATEWAYS.iter().position(|&known| known == kind);
    index.and_then(|index| COLOURS.get(index)).copied().unwrap_or_default()
}

/// The scenarios that are drawn.
const SHOWN: [&str; 2] = ["passthrough", "basic-auth"];
/// From top to bottom.
const LANGUAGES: [FilterLanguage; 8] = [
    FilterLanguage::Builtin,
    FilterLanguage::Native,
    FilterLanguage::Go,
    FilterLanguage::GoEnvoy,
    FilterLanguage::Lua,
    FilterLanguage::LuaJit,
    FilterLanguage::Wasm,
    FilterLanguage::WasmGo,
];
const GATEWAYS: [GatewayKind; 2] = [GatewayKind::Eddy, GatewayKind::Envoy];
/// Colour of the lines between the quartiles, visible on bars and on the page.
const SPAN: &str = "#6e7781";
const LEFT: f64 = 160.0;
const RIGHT: f64 = 80.0;
const HEAD: f64 = 68.0;
const TITLE: f64 = 28.0;
const BAR: f64 = 15.0;
const GAP: f64 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::FilterTarget;
    use crate::report::filters::tests::results;

    #[test]
    fn every_language_has_a_bar_for_each_gateway_that_was_measured() {
        let text = svg(&results()).unwrap();
        // Two bars and the two of the legend; scenarios that reject requests are not drawn.
        assert_eq!(text.matches("<rect").count(), 4, "{text}");
        assert_eq!(text.matches(">Go</text>").count(), 1, "{text}");
        assert!(text.contains(">98.0 %<") && text.contains(">66.7 %<"), "{text}");
        assert!(
            text.contains(">passthrough: enters request head and response head and does nothing<"),
            "{text}"
        );
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    }

    #[test]
    fn quartiles_swap_when_inverted() {
        let left = PercentRange::of(BaselineRatio { median: 1.25, q1: 1.0, q3: 2.0, pairs: 3 }).unwrap();
        assert!((left.median - 80.0).abs() < 1e-9, "{left:?}");
        assert!((left.low - 50.0).abs() < 1e-9 && (left.high - 100.0).abs() < 1e-9, "{left:?}");
        assert!(PercentRange::of(BaselineRatio { median: 0.0, q1: 0.0, q3: 0.0, pairs: 1 }).is_none());
    }

    #[test]
    fn every_language_of_a_target_has_its_line() {
        let drawn =
            |target: &&FilterTarget| GATEWAYS.contains(&target.kind) && target.tongue != FilterLanguage::None;
        for target in TARGETS.iter().filter(drawn) {
            assert!(LANGUAGES.contains(&target.tongue), "{}", target.name);
        }
    }

    #[test]
    fn bars_match_the_axis() {
        assert!((x_of(0.0) - LEFT).abs() < 1e-9);
        assert!((x_of(100.0) - (WIDTH - RIGHT)).abs() < 1e-9);
    }

    #[test]
    fn an_empty_result_gives_no_chart() {
        assert_eq!(svg(&Results::default()), None);
    }
}
