//! Match conditions of a route.

use eddy_route::{CaselessPath, Fraction, Missing, PathPattern, Rule, ValueMatch, ValueTest};
use eddy_spec::problem::shown;
use eddy_spec::yaml::YamlNode;

use super::re2::translated;
use super::reader::{EnvoyReader, entry};
use super::template;

impl EnvoyReader<'_> {
    /// Adds the conditions of a `RouteMatch` to a rule. Returns `false` when eddy does not support one; the problem is
    /// reported.
    pub(super) fn route_match(&mut self, node: &YamlNode<'_>, rule: &mut Rule) -> bool {
        let is_caseless = self.text(node, "case_sensitive") == Some("false");
        let Some(path) = self.path(node, is_caseless) else { return false };
        rule.path = path;
        for header in self.list(node, "headers") {
            let Some(spec) = self.header(header) else { return false };
            // An exact method becomes a method of the rule, which needs no header lookup.
            match &spec {
                ValueMatch {
                    name,
                    test: ValueTest::Exact(method),
                    is_caseless: false,
                    is_inverted: false,
                    ..
                } if name == ":method" && rule.methods.is_empty() && !method.is_empty() => {
                    rule.methods.push(method.clone());
                }
                _ => rule.headers.push(spec),
            }
        }
        for parameter in self.list(node, "query_parameters") {
            let Some(spec) = self.parameter(parameter) else { return false };
            rule.query.push(spec);
        }
        for cookie in self.list(node, "cookies") {
            let Some(spec) = self.cookie(cookie) else { return false };
            rule.headers.push(spec);
        }
        if entry(node, "grpc").is_some() {
            self.pass(node, &["grpc"]);
            let test = ValueTest::Regex(r"application/grpc(\+.*)?".to_owned());
            rule.headers.push(ValueMatch::new("content-type", test));
        }
        if let Some(fraction) = self.get(node, "runtime_fraction") {
            self.pass(fraction, &["runtime_key"]);
            rule.fraction = self.get(fraction, "default_value").map(|value| self.fraction(value));
        }
        true
    }

    fn path(&mut self, node: &YamlNode<'_>, is_caseless: bool) -> Option<PathPattern> {
        let pattern =
            |text: &str, exact_case: fn(String) -> PathPattern, any_case: fn(String) -> CaselessPath| {
                let text = text.to_owned();
                if is_caseless { PathPattern::Caseless(any_case(text)) } else { exact_case(text) }
            };
        if let Some(text) = self.text(node, "prefix") {
            return Some(pattern(text, PathPattern::BytePrefix, CaselessPath::BytePrefix));
        }
        if let Some(text) = self.text(node, "path") {
            return Some(pattern(text, PathPattern::Exact, CaselessPath::Exact));
        }
        if let Some(prefix) = self.get(node, "path_separated_prefix") {
            let text = super::reader::text(prefix).unwrap_or_default();
            if text.len() < 2 || text.ends_with('/') || text.contains(['?', '#']) {
                self.report
                    .error(prefix.place, format!("`{}` is not a valid `path_separated_prefix`", shown(text)))
                    .hint("it must not contain `?` or `#` or end with `/`; Envoy rejects it too");
                return None;
            }
            return Some(pattern(text, PathPattern::Prefix, CaselessPath::Prefix));
        }
        if let Some(regex) = self.get(node, "safe_regex") {
            return self.regex(regex).map(PathPattern::Regex);
        }
        if entry(node, "path_match_policy").is_some() {
            let template = self.template_of(node)?;
            return match template::expression(&template) {
                Ok(expression) => Some(PathPattern::Regex(expression)),
                Err(reason) => {
                    let place = self.get(node, "path_match_policy").map_or(node.place, |policy| policy.place);
                    self.report.error(place, format!("the template `{}` {reason}", shown(&template))).hint(
                        "Envoy rejects it too; `*` is a segment, `**` is the rest of the path, `{name}` is a variable",
                    );
                    None
                }
            };
        }
        if let Some(connect) = entry(node, "connect_matcher") {
            self.pass(node, &["connect_matcher"]);
            self.report.objection(connect.key.place, "`connect_matcher` is not supported").hint(
                "for CONNECT tunnels write a rule with `connect: open` in eddy.yaml, and leave this route out",
            );
            return None;
        }
        self.report
            .error(
                node.place,
                "a match needs a path: `prefix`, `path`, `safe_regex` or `path_separated_prefix`",
            )
            .hint("`prefix: \"/\"` matches every path");
        None
    }

    /// Returns the template of a `path_match_policy`.
    pub(super) fn template_of(&mut self, node: &YamlNode<'_>) -> Option<String> {
        let policy = self.get(node, "path_match_policy")?;
        let (config, _) = self.typed_config(policy, &[TEMPLATE])?;
        Some(self.text(config, "path_template").unwrap_or_default().to_owned())
    }

    /// Reads a `CookieMatcher`. An inverted one also matches requests without the cookie.
    fn cookie(&mut self, node: &YamlNode<'_>) -> Option<ValueMatch> {
        let Some(name) = self.word(node, "name") else {
            self.report.error(node.place, "a cookie match needs a `name`");
            return None;
        };
        let mut spec = ValueMatch::new(&format!("cookie:{name}"), ValueTest::Present);
        if let Some(string) = self.get(node, "string_match") {
            spec = self.string(string, spec)?;
        }
        spec.is_inverted = self.is_true(node, "invert_match");
        if spec.is_inverted {
            spec.missing = Missing::Passes;
        }
        Some(spec)
    }

    /// Returns the expression of a `RegexMatcher`, translated into eddy's syntax.
    pub(super) fn regex(&mut self, node: &YamlNode<'_>) -> Option<String> {
        self.pass(node, &["google_re2"]);
        let Some(text) = self.word(node, "regex") else {
            self.report
                .error(node.place, "the regular expression is missing")
                .hint("for example `regex: \"/a/.*\"`");
            return None;
        };
        Some(translated(text))
    }

    fn header(&mut self, node: &YamlNode<'_>) -> Option<ValueMatch> {
        let Some(name) = self.word(node, "name") else {
            self.report.error(node.place, "a header match needs a `name`");
            return None;
        };
        let mut spec = ValueMatch::new(&header_name(name), ValueTest::Present);
        spec.is_inverted = self.is_true(node, "invert_match");
        if self.is_true(node, "treat_missing_header_as_empty") {
            spec.missing = Missing::IsEmpty;
        }
        let fields = ["exact_match", "prefix_match", "suffix_match", "contains_match"];
        if let Some(test) = self.text_test(node, fields) {
            spec.test = test;
            return Some(spec);
        }
        if let Some(string) = self.get(node, "string_match") {
            return self.string(string, spec);
        }
        if let Some(regex) = self.get(node, "safe_regex_match") {
            spec.test = ValueTest::Regex(self.regex(regex)?);
            return Some(spec);
        }
        if let Some(range) = self.get(node, "range_match") {
            let start = self.number(range, "start").unwrap_or(0);
            spec.test = ValueTest::Range(start, self.number(range, "end").unwrap_or(0));
            return Some(spec);
        }
        let is_wanted = self.text(node, "present_match") != Some("false");
        Some(presence(spec, is_wanted))
    }

    fn parameter(&mut self, node: &YamlNode<'_>) -> Option<ValueMatch> {
        let Some(name) = self.word(node, "name") else {
            self.report.error(node.place, "a query match needs a `name`");
            return None;
        };
        let spec = ValueMatch::new(name, ValueTest::Present);
        if let Some(string) = self.get(node, "string_match") {
            return self.string(string, spec);
        }
        let is_wanted = self.text(node, "present_match") != Some("false");
        Some(presence(spec, is_wanted))
    }

    /// Reads a `StringMatcher`.
    pub(super) fn string(&mut self, node: &YamlNode<'_>, mut spec: ValueMatch) -> Option<ValueMatch> {
        spec.is_caseless = self.is_true(node, "ignore_case");
        if let Some(test) = self.text_test(node, ["exact", "prefix", "suffix", "contains"]) {
            spec.test = test;
            return Some(spec);
        }
        if let Some(regex) = self.get(node, "safe_regex") {
            // Envoy ignores `ignore_case` for regular expressions too.
            spec.is_caseless = false;
            spec.test = ValueTest::Regex(self.regex(regex)?);
            return Some(spec);
        }
        self.report
            .error(node.place, "the string match has no test that eddy supports")
            .hint("write `exact`, `prefix`, `suffix`, `contains` or `safe_regex`");
        None
    }

    /// Reads the test in the first of these fields that is given: exact text, prefix, suffix or part of a value.
    fn text_test(&mut self, node: &YamlNode<'_>, fields: [&str; 4]) -> Option<ValueTest> {
        let tests = [ValueTest::Exact, ValueTest::Prefix, ValueTest::Suffix, ValueTest::Contains];
        let mut tests = fields.into_iter().zip(tests);
        tests.find_map(|(field, test)| Some(test(self.text(node, field)?.to_owned())))
    }

    /// Reads a `FractionalPercent`.
    pub(super) fn fraction(&mut self, node: &YamlNode<'_>) -> Fraction {
        let numerator = self.number(node, "numerator").unwrap_or(0);
        let denominator = match self.text(node, "denominator") {
            Some("TEN_THOUSAND" | "1") => 10_000,
            Some("MILLION" | "2") => 1_000_000,
            _ => 100,
        };
        Fraction { numerator, denominator }
    }
}

/// Returns the name of a header in lower case; Envoy keeps `Host` as `:authority` only.
pub(super) fn header_name(name: &str) -> String {
    if name.eq_ignore_ascii_case("host") { ":authority".to_owned() } else { name.to_ascii_lowercase() }
}

/// Makes a test that a value is present or absent. Where a missing value counts as empty, there always is one.
fn presence(mut spec: ValueMatch, is_wanted: bool) -> ValueMatch {
    let is_present = is_wanted != spec.is_inverted;
    if spec.missing == Missing::IsEmpty {
        spec.is_inverted = !is_present;
        return spec;
    }
    spec.is_inverted = false;
    spec.test = if is_present { ValueTest::Present } else { ValueTest::Absent };
    spec
}

const TEMPLATE: &str = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
