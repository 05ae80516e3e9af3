//! Random Ingresses, with few hosts and paths so that they overlap, and requests derived from their texts.

use std::collections::BTreeMap;

use crate::objects::{Ingress, IngressHostRule, Path};

/// Ingresses, their Services, and requests: host, target and further headers.
pub(crate) struct IngressCase {
    pub(crate) ingresses: Vec<Ingress>,
    pub(crate) services: Vec<String>,
    pub(crate) requests: Vec<(String, String, String)>,
}

pub(crate) struct IngressCaseGenerator {
    seed: u64,
    pub(crate) counts: BTreeMap<&'static str, usize>,
}

const PATHS: [&str; 12] =
    ["/", "/a", "/b", "/a/b", "/a/b/c", "/ab", "/A", "/a/a", "/", "/a-b", "/a.b", "/abc"];
const PATTERNS: [&str; 8] =
    ["/a(/|$)(.*)", "/[ab]+", "/a.*b", "/(.*)", "/b/(?<rest>.*)", "/a/[^/]+", "/ab?", "/a$"];
const ODD: [&str; 14] =
    ["/", "//", "/./", "/../a", "%2F", "%61", "a", "b", "?x=1", ";p", "%41", "%25", "/c", "-"];

impl IngressCaseGenerator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, counts: BTreeMap::new() }
    }

    /// Generates a case with `groups` groups of hosts that do not overlap.
    pub(crate) fn case(&mut self, groups: usize) -> IngressCase {
        let mut case = IngressCase { ingresses: Vec::new(), services: Vec::new(), requests: Vec::new() };
        for group in 0..groups {
            self.group(group, &mut case);
        }
        case
    }

    fn group(&mut self, group: usize, case: &mut IngressCase) {
        let services: Vec<String> = (0..6).map(|number| format!("s{group}-{number}")).collect();
        // Within a group, a path text always ends in `/`, or never.
        let slashes: Vec<bool> = PATHS.iter().map(|_| self.below(4) == 0).collect();
        let hosts = [
            format!("t{group}.test"),
            format!("*.t{group}.test"),
            format!("www.t{group}.test"),
            format!("b.a.t{group}.test"),
        ];
        let first = case.ingresses.len();
        for number in 0..1 + self.below(4) {
            let mut ingress = Ingress {
                name: format!("i{group}-{number}"),
                day: if self.below(2) == 0 { Some([1, 2, 3][self.below(3)]) } else { None },
                class: "nginx",
                ..Ingress::default()
            };
            if self.below(6) == 0 {
                self.count("default backend");
                ingress.default = Some(services[self.below(services.len())].clone());
            }
            self.annotate(group, &mut ingress);
            let has_patterns = ingress.is_on("use-regex") || ingress.annotation("rewrite-target").is_some();
            for _ in 0..1 + self.below(2) {
                let host = hosts[self.below(hosts.len())].clone();
                let mut rule = IngressHostRule { host, paths: Vec::new() };
                for _ in 0..1 + self.below(4) {
                    let service = services[self.below(services.len())].clone();
                    let path = if has_patterns && self.below(2) == 0 {
                        self.count("pattern");
                        Path { path: self.pick(&PATTERNS).into(), kind: "ImplementationSpecific", service }
                    } else {
                        let at = self.below(PATHS.len());
                        let end = if slashes[at] && PATHS[at] != "/" { "/" } else { "" };
                        let kind = ["Exact", "Prefix", "Prefix", "ImplementationSpecific"][self.below(4)];
                        self.count(kind);
                        Path { path: format!("{}{end}", PATHS[at]), kind, service }
                    };
                    rule.paths.push(path);
                }
                ingress.rules.push(rule);
            }
            case.ingresses.push(ingress);
        }
        if self.below(3) == 0 {
            self.canary(group, &services, first, case);
        }
        case.services.extend(services);
        self.requests(&hosts, first, case);
    }

    fn annotate(&mut self, group: usize, ingress: &mut Ingress) {
        let (name, value) = match self.below(16) {
            0 => ("use-regex", "true".to_owned()),
            1 => ("rewrite-target", "/".into()),
            2 => ("rewrite-target", "/n/$2".into()),
            3 => ("rewrite-target", "/n$1?r=$1".into()),
            4 => ("app-root", "/app".into()),
            5 => ("permanent-redirect", "https://other.test/$request_uri".into()),
            6 => ("temporal-redirect", "http://other.test/to".into()),
            7 => ("from-to-www-redirect", "true".into()),
            8 => ("server-alias", format!("alias.t{group}.test,other{group}.test")),
            9 => ("force-ssl-redirect", "true".into()),
            10 => ("upstream-vhost", "up.test".into()),
            _ => return,
        };
        self.count(match name {
            "use-regex" => "use-regex",
            "rewrite-target" => "rewrite-target",
            "from-to-www-redirect" => "www",
            "server-alias" => "alias",
            _ => "other annotations",
        });
        ingress.annotations.push((name.into(), value));
        if name == "rewrite-target" && self.below(2) == 0 {
            ingress.annotations.push(("use-regex".into(), "true".into()));
        }
        if name == "permanent-redirect" && self.below(2) == 0 {
            ingress.annotations.push(("permanent-redirect-code".into(), "308".into()));
        }
        if name == "force-ssl-redirect" && self.below(2) == 0 {
            ingress.annotations.push(("preserve-trailing-slash".into(), "true".into()));
        }
    }

    /// Adds a canary for the paths of an Ingress.
    fn canary(&mut self, group: usize, services: &[String], first: usize, case: &mut IngressCase) {
        self.count("canary");
        let at = first + self.below(case.ingresses.len() - first);
        let mut rules = case.ingresses[at].rules.clone();
        for path in rules.iter_mut().flat_map(|rule| &mut rule.paths) {
            path.service = if self.below(3) == 0 {
                services[self.below(services.len())].clone()
            } else {
                format!("c{group}")
            };
        }
        let mut annotations = vec![("canary".to_owned(), "true".to_owned())];
        let mut add = |name: &str, value: &str| annotations.push((name.into(), value.into()));
        match self.below(6) {
            0 => add("canary-by-header", "x-canary"),
            1 => {
                add("canary-by-header", "x-canary");
                add("canary-by-header-value", "yes");
            }
            2 => {
                add("canary-by-header", "x-canary");
                add("canary-by-header-pattern", "^(yes|no)$");
            }
            3 => add("canary-by-cookie", "canary"),
            4 => {
                add("canary-by-header", "x-canary");
                add("canary-by-cookie", "canary");
                add("canary-weight", "100");
            }
            _ => add("canary-weight", "100"),
        }
        let day = case.ingresses[at].day;
        let ingress =
            Ingress { name: format!("k{group}"), day, class: "nginx", annotations, default: None, rules };
        case.ingresses.push(ingress);
        case.services.push(format!("c{group}"));
    }

    fn requests(&mut self, hosts: &[String], first: usize, case: &mut IngressCase) {
        let mut names: Vec<String> = hosts.iter().map(|host| host.replace('*', "x")).collect();
        let rules = case.ingresses[first..].iter().flat_map(|ingress| &ingress.rules);
        let used: Vec<String> = rules.map(|rule| rule.host.replace('*', "x")).collect();
        names.retain(|name| used.contains(name));
        match self.below(4) {
            0 => names.push(hosts[1].replace('*', "x.y")),
            1 => names.push(hosts[2].clone()),
            2 => names.push(format!("alias.{}", hosts[0])),
            _ => names.push("unknown.test".into()),
        }
        let texts: Vec<String> = case.ingresses[first..]
            .iter()
            .flat_map(|ingress| &ingress.rules)
            .flat_map(|rule| &rule.paths)
            .map(|path| path.path.replace(['(', ')', '[', ']', '$', '|', '?', '*', '+', '^', '<', '>'], "b"))
            .collect();
        for name in names {
            for text in &texts {
                for _ in 0..6 {
                    let target = self.target(text);
                    let field = match self.below(5) {
                        0 => "X-Canary: always\r\n",
                        1 => "X-Canary: yes\r\n",
                        2 => "Cookie: canary=always\r\n",
                        3 => "X-Canary: never\r\nCookie: canary=never\r\n",
                        _ => "",
                    };
                    case.requests.push((name.clone(), target, field.to_owned()));
                }
            }
        }
    }

    /// Returns a target that equals or resembles the text of a path.
    fn target(&mut self, text: &str) -> String {
        let mut target = text.to_owned();
        for _ in 0..self.below(3) {
            match self.below(4) {
                0 => {
                    target.pop();
                }
                1 => target.push_str(self.pick(&PATHS)),
                2 => target.push_str(self.pick(&ODD)),
                _ => {
                    let at = self.below(target.len() + 1);
                    let piece = self.pick(&ODD);
                    target.insert_str(at, piece);
                }
            }
        }
        if target.starts_with('/') { target } else { format!("/{target}") }
    }

    /// Returns a text with one to three pieces changed.
    pub(crate) fn mutate(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..1 + self.below(3) {
            let at = self.below(lines.len());
            match self.below(5) {
                0 => {
                    lines.remove(at);
                }
                1 => lines.insert(at, lines[self.below(lines.len())].clone()),
                2 => {
                    let cut = self.below(lines[at].len() + 1);
                    lines[at].truncate(cut);
                }
                3 => {
                    let piece = self
                        .pick(&["'", ":", "{", "- ", "*", "/", "$1", "(", "\u{0}", "é", "~", "null", "80"]);
                    let place = self.below(lines[at].len() + 1);
                    if lines[at].is_char_boundary(place) {
                        lines[at].insert_str(place, piece);
                    }
                }
                _ => {
                    let other = self.below(lines.len());
                    lines.swap(at, other);
                }
            }
            if lines.is_empty() {
                lines.push(String::new());
            }
        }
        lines.join("\n")
    }

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
}
