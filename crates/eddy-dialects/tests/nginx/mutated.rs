//! Tests of broken NGINX configurations: each is accepted, or refused with a position and a reason, in bounded time.

use std::time::{Duration, Instant};

use eddy_dialects::check;
use eddy_spec::problem::{Severity, SourceText};

use crate::{examples, generate};

/// Number of broken configurations that are tried.
const COUNT: usize = 1000;

/// Random numbers that are the same in every run.
struct NginxMutationRng(u64);

impl NginxMutationRng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    /// Returns a position in `text` between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

const NOISE: [&str; 34] = [
    "\0",
    "\t",
    "\u{feff}",
    "\u{202e}",
    "é",
    "\"",
    "'",
    "{",
    "}",
    ";",
    "$",
    "${",
    "\\",
    "#",
    "\r",
    "\n",
    "~",
    "(?=a)",
    "(a*)*b",
    "(a{1000}){1000}",
    "[",
    "include x;",
    "location /a {",
    "server {",
    "if ($a) {",
    "$1",
    "99999999999999999999",
    "unix:",
    "=",
    "^~ ",
    "@",
    " weight=0",
    "http {",
    "set $uri x;",
];

fn mutate(text: &str, draw: &mut NginxMutationRng) -> String {
    let (at, other) = (draw.place(text), draw.place(text));
    let (from, to) = (at.min(other), at.max(other));
    let noise = NOISE[draw.below(NOISE.len())];
    let words: Vec<&str> = text.split_inclusive([' ', ';', '{', '}']).collect();
    let word = draw.below(words.len());
    match draw.below(9) {
        0 => text[..at].to_owned(),
        1 => format!("{}{}", &text[..from], &text[to..]),
        2 | 3 => format!("{}{noise}{}", &text[..at], &text[at..]),
        4 => format!("{}{}{}", &text[..to], &text[from..to], &text[to..]),
        5 => [&words[..word], &words[word + 1..]].concat().concat(),
        6 => [&words[..word], &[noise, " "], &words[word + 1..]].concat().concat(),
        7 => [&words[..word], &[words[draw.below(words.len())]], &words[word..]].concat().concat(),
        _ => format!("{}{}{}", &text[..at], noise.repeat(draw.below(3000)), &text[at..]),
    }
}

#[test]
fn broken_configurations_are_accepted_or_refused_with_a_position() {
    let mut texts: Vec<String> = examples::all().into_iter().map(|(config, _, _)| config).collect();
    texts.dedup();
    texts.extend(generate::cases(3).0.into_iter().map(|case| case.config));
    let mut draw = NginxMutationRng(0x9e37_79b9_7f4a_7c15);
    let (mut taken, mut refused) = (0, 0);
    for number in 0..COUNT {
        let mut text = texts[number % texts.len()].clone();
        for _ in 0..=draw.below(3) {
            text = mutate(&text, &mut draw);
        }
        let begun = Instant::now();
        match check(&[SourceText::new("nginx.conf", &text)]) {
            Ok(_) => taken += 1,
            Err(problems) => {
                refused += 1;
                assert!(problems.iter().any(|problem| problem.severity == Severity::Error), "{text}");
                for problem in &problems {
                    assert!(!problem.message.is_empty() && problem.line > 0, "{problem:?}\n{text}");
                }
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "too slow:\n{text}");
    }
    assert!(taken > 50 && refused > 300, "{taken} taken, {refused} refused");
}

#[test]
fn expressions_of_exponential_size_are_refused_with_their_position() {
    let places = [
        "location ~ \"PATTERN\" { return 200 x; }",
        "rewrite \"PATTERN\" /x; ",
        "if ($uri ~ \"PATTERN\") { return 200 x; }",
        "server_name \"~PATTERN\"; ",
        "location / { proxy_pass http://127.0.0.1:1; proxy_redirect \"~PATTERN\" /; }",
    ];
    let large = ["(((a{100}){100}){100}){100}", "(?:[a-z]{1000}|[0-9]{1000}){1000}", "(x+x+)+y{100000}"];
    for directive in places {
        for pattern in large {
            let config = format!(
                "events {{}}\nhttp {{ server {{ listen 1;\n{}\n}} }}",
                directive.replace("PATTERN", pattern)
            );
            let begun = Instant::now();
            let problems = check(&[SourceText::new("nginx.conf", &config)]).unwrap_err();
            assert!(begun.elapsed() < Duration::from_secs(5), "{config}");
            let column = u32::try_from(directive.find("PATTERN").unwrap()).unwrap();
            let told = problems.iter().find(|problem| problem.line == 3).unwrap();
            assert!(told.column.abs_diff(column) <= 2, "{told:?}\n{config}");
            assert!(told.message.contains("large") || told.message.contains("limit"), "{}", told.message);
        }
    }
}
