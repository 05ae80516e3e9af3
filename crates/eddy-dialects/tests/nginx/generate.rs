//! Random tables of locations, made of few letters so that they overlap, and requests derived from their texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{NginxCase, NginxTestRequest};

/// Number of tables in one configuration.
const TABLES_A_CONFIG: usize = 50;

/// Returns configurations with `tables` tables in total, and the number of occurrences of each kind of construct.
pub(crate) fn cases(tables: usize) -> (Vec<NginxCase>, String) {
    cases_from(0x2545_f491_4f6c_dd1d, tables)
}

/// Returns the same as [`cases`], from a seed that is not zero.
pub(crate) fn cases_from(seed: u64, tables: usize) -> (Vec<NginxCase>, String) {
    let mut maker = NginxCaseGenerator { seed, counts: BTreeMap::new() };
    let mut cases = Vec::new();
    for number in 0..tables.div_ceil(TABLES_A_CONFIG) {
        let mut config = String::from("events {}\nhttp {\n");
        let mut requests = Vec::new();
        for table in 0..TABLES_A_CONFIG.min(tables - number * TABLES_A_CONFIG) {
            maker.server(table, &mut config, &mut requests);
        }
        config.push_str("}\n");
        cases.push(NginxCase { name: format!("generated/{number}"), config, requests });
    }
    let coverage = maker.counts.iter().map(|(what, count)| format!("{what} {count}"));
    (cases, coverage.collect::<Vec<_>>().join(", "))
}

struct NginxCaseGenerator {
    seed: u64,
    counts: BTreeMap<&'static str, usize>,
}

const PIECES: [&str; 9] = ["a", "b", "/", "/", "/a", "/b", "ab", ".c", "A"];
const PATTERNS: [&str; 10] = ["a", "^/a", "b$", "[.]c$", "^/(a|b)/", "//", "a/b", "^/a(?:/|$)", "[^a]b", "A"];
const ODD: [&str; 14] =
    ["/", "//", "/./", "/../", "%2F", "%61", "%2e%2e/", "%0A", "?a=b", ";p", "%41", "a", "%25", "/.."];

impl NginxCaseGenerator {
    fn below(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed >> 33).unwrap() % bound
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn server(&mut self, table: usize, config: &mut String, requests: &mut Vec<NginxTestRequest>) {
        let host = format!("t{table}.test");
        let merges = self.below(4) > 0;
        // The path is parsed with the settings of the default server, which is the first.
        let slashes = if table == 0 && !merges { "merge_slashes off; " } else { "" };
        let _ = writeln!(config, "server {{ listen unix:/eddy/site.sock; server_name {host}; {slashes}");
        let mut texts = vec!["/".to_owned()];
        let mut number = 0;
        self.level("", 0, false, &mut number, config, &mut texts);
        config.push_str("}\n");
        texts.sort();
        texts.dedup();
        for text in texts.clone() {
            for _ in 0..3 {
                let target = self.target(&text);
                requests.push(NginxTestRequest::new(&host, &target));
            }
        }
    }

    fn level(
        &mut self,
        around: &str,
        depth: usize,
        is_in_pattern: bool,
        number: &mut usize,
        config: &mut String,
        texts: &mut Vec<String>,
    ) {
        let mut taken: Vec<(bool, String)> = Vec::new();
        for _ in 0..=self.below(if depth == 0 { 7 } else { 3 }) {
            let kind = self.below(10);
            *number += 1;
            let id = *number;
            if kind < 3 || is_in_pattern {
                let sign = self.pick(&["~", "~", "~*"]);
                let pattern = self.pick(&PATTERNS);
                self.count("expression");
                let _ = write!(config, "location {sign} \"{pattern}\" {{ ");
                if depth < 2 && self.below(4) == 0 {
                    self.count("nested in an expression");
                    self.level("", depth + 1, true, number, config, texts);
                }
                self.answer(id, None, config);
                continue;
            }
            let mut text = if around.is_empty() { "/".to_owned() } else { around.to_owned() };
            for _ in 0..self.below(4) {
                text.push_str(self.pick(&PIECES));
            }
            let is_exact = kind == 3;
            if taken.contains(&(is_exact, text.clone())) {
                continue;
            }
            taken.push((is_exact, text.clone()));
            texts.push(text.clone());
            let (sign, what) = match kind {
                3 => ("=", "exact"),
                4 | 5 => ("^~", "prefix that spares expressions"),
                _ => ("", "prefix"),
            };
            self.count(what);
            let _ = write!(config, "location {sign} {text} {{ ");
            if !is_exact && depth < 2 && self.below(3) == 0 {
                self.count("nested in a prefix");
                self.level(&text, depth + 1, false, number, config, texts);
            }
            self.answer(id, Some(&text), config);
        }
    }

    fn answer(&mut self, id: usize, text: Option<&str>, config: &mut String) {
        match (self.below(8), text) {
            (0, Some(_)) => {
                self.count("proxy_pass with a URI");
                let _ = writeln!(config, "proxy_pass http://unix:/eddy/echo.sock:/u{id}; }}");
            }
            (1, _) => {
                self.count("proxy_pass");
                let _ = writeln!(config, "proxy_pass http://unix:/eddy/echo.sock; }}");
            }
            (2, _) => {
                self.count("rewrite last");
                let _ = writeln!(config, "rewrite ^/(.)(.*)$ /b$2?r=$1 last; return 200 \"{id} $uri\"; }}");
            }
            (3, Some(_)) => {
                self.count("rewrite break");
                let _ = writeln!(
                    config,
                    "rewrite ^/a(.*)$ /n$1 break; proxy_pass http://unix:/eddy/echo.sock:/r{id}; }}"
                );
            }
            (4, _) => {
                self.count("redirect");
                let _ = writeln!(
                    config,
                    "rewrite ^(.*)b(.*)$ /to$1$2 redirect; return 200 \"{id} $uri $args\"; }}"
                );
            }
            (5, _) => {
                self.count("if");
                let _ = writeln!(
                    config,
                    "set $v \"$uri-$1\"; if ($uri ~ ^/(a+)) {{ set $v $1; return 201 \"{id} $v\"; }} return 200 \"{id} $v\"; }}"
                );
            }
            _ => {
                self.count("return");
                let _ = writeln!(config, "return 200 \"{id} $uri $1 $args\"; }}");
            }
        }
    }

    /// Returns a target that equals or resembles the text of a location.
    fn target(&mut self, text: &str) -> String {
        let mut target = text.to_owned();
        for _ in 0..self.below(4) {
            match self.below(4) {
                0 => {
                    target.pop();
                }
                1 => target.push_str(self.pick(&PIECES)),
                2 => target.push_str(self.pick(&ODD)),
                _ => {
                    let at = self.below(target.len() + 1);
                    if target.is_char_boundary(at) {
                        let piece = self.pick(&ODD);
                        target.insert_str(at, piece);
                    }
                }
            }
        }
        if target.starts_with('/') { target } else { format!("/{target}") }
    }
}
