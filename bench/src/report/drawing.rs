//! Parts common to all charts: the page with its title, and the axis lines.

use std::fmt::Write;

/// An SVG page under construction.
pub(super) struct Drawing {
    text: String,
    height: f64,
}

/// Style of an axis line.
#[derive(Clone, Copy)]
pub(super) enum AxisLine {
    /// A grid line.
    Grid,
    /// The reference line.
    One,
}

impl Drawing {
    /// Creates an empty page; `label` is the text for screen readers.
    pub(super) fn new(label: &str, title: &str, subtitle: &str, height: f64) -> Self {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{label}\">\n{STYLE}\
             <text class=\"title\" x=\"{MARGIN}\" y=\"24\">{title}</text>\n\
             <text class=\"small\" x=\"{MARGIN}\" y=\"42\">{subtitle}</text>"
        );
        Self { text, height }
    }

    /// Draws an axis line from `top` to the foot of the page, with its value below.
    pub(super) fn axis(&mut self, x: f64, top: f64, line: AxisLine, value: &str) {
        let class = match line {
            AxisLine::Grid => "grid",
            AxisLine::One => "one",
        };
        let bottom = self.height - FOOT;
        let y = bottom + 16.0;
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\n\
             <text class=\"small\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y}\">{value}</text>"
        ));
    }

    /// Appends SVG elements.
    pub(super) fn add(&mut self, elements: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{elements}");
    }

    /// Returns the whole page.
    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Colours that are distinguishable on white and on near black, also for colour-blind readers.
pub(super) const COLOURS: &[&str] = &["#2f81f7", "#1a9e6e", "#c98500", "#b65fd0", "#8b949e"];
pub(super) const WIDTH: f64 = 860.0;
pub(super) const MARGIN: f64 = 20.0;
/// Height reserved below the axis for its values.
pub(super) const FOOT: f64 = 30.0;
/// Style of texts and lines, on white and on near black.
const STYLE: &str = "<style>\ntext { font: 13px system-ui, sans-serif; fill: #1f2328 }\n\
    .title { font-size: 17px; font-weight: 600 }\n.small { font-size: 11px }\n\
    .grid { stroke: #d0d7de }\n.one { stroke: #57606a; stroke-dasharray: 4 3 }\n\
    @media (prefers-color-scheme: dark) {\n  text { fill: #e6edf3 }\n  .grid { stroke: #30363d }\n  \
    .one { stroke: #9198a1 }\n}\n</style>\n";
