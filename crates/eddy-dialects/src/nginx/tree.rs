//! Words to directives: a name, arguments, and possibly a block.

use eddy_spec::problem::{ProblemReport, SourceSpan, shown};

use super::word::{Token, TokenKind, split};

#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) name: NginxWord,
    pub(crate) arguments: Vec<NginxWord>,
    /// Directives in its block, if it has one.
    pub(crate) block: Option<Vec<Self>>,
}

/// Word with its source position.
#[derive(Clone, Debug)]
pub(crate) struct NginxWord {
    pub(crate) text: String,
    pub(crate) place: SourceSpan,
}

/// Parses the directives of a file; problems are reported.
pub(super) fn parse(text: &str, source: u32, report: &mut ProblemReport) -> Vec<Directive> {
    let mut tokens = split(text, source, report).into_iter().peekable();
    let directives = read_block(&mut tokens, None, 0, report);
    if let Some(token) = tokens.next() {
        report.error(token.place, "this `}` does not close a block");
    }
    directives
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<Token>>;

/// Reads directives to the end of the file, or to the `}` of the block that began at `opened`.
fn read_block(
    tokens: &mut Tokens,
    opened: Option<SourceSpan>,
    depth: usize,
    report: &mut ProblemReport,
) -> Vec<Directive> {
    let mut directives = Vec::new();
    loop {
        match tokens.next_if(|token| opened.is_some() || token.kind != TokenKind::Close) {
            None => {
                if let (Some(opened), None) = (opened, tokens.peek())
                    && !report.has_errors()
                {
                    report.error(opened, "this block is not closed").hint("end it with `}`");
                }
                return directives;
            }
            Some(Token { kind: TokenKind::Close, .. }) => return directives,
            Some(Token { kind: TokenKind::Word(text), place }) => {
                let name = NginxWord { text, place };
                match read_directive(name, tokens, depth, report) {
                    Some(directive) => directives.push(directive),
                    None => return directives,
                }
            }
            Some(Token { kind: TokenKind::End, place }) => {
                report.error(place, "this `;` does not end a directive");
            }
            Some(Token { kind: TokenKind::Open, place }) if depth >= DEPTH_MAX => {
                refuse_depth(place, tokens, report);
                return directives;
            }
            Some(Token { kind: TokenKind::Open, place }) => {
                report.error(place, "this block has no name");
                read_block(tokens, Some(place), depth + 1, report);
            }
        }
    }
}

fn read_directive(
    name: NginxWord,
    tokens: &mut Tokens,
    depth: usize,
    report: &mut ProblemReport,
) -> Option<Directive> {
    let mut arguments = Vec::new();
    loop {
        let Some(token) = tokens.next() else {
            if !report.has_errors() {
                report
                    .error(name.place, format!("the directive `{}` is not closed", shown(&name.text)))
                    .hint("end it with `;`, or with a block in `{}`");
            }
            return None;
        };
        match token.kind {
            TokenKind::Word(text) => arguments.push(NginxWord { text, place: token.place }),
            TokenKind::End => return Some(Directive { name, arguments, block: None }),
            TokenKind::Open if depth >= DEPTH_MAX => {
                refuse_depth(token.place, tokens, report);
                return None;
            }
            TokenKind::Open => {
                let block = read_block(tokens, Some(token.place), depth + 1, report);
                return Some(Directive { name, arguments, block: Some(block) });
            }
            TokenKind::Close => {
                report
                    .error(
                        token.place,
                        format!("the directive `{}` is not closed before this `}}`", shown(&name.text)),
                    )
                    .hint("end it with `;`");
                return None;
            }
        }
    }
}

/// Reports a block that is nested too deeply; the rest of the file is not read.
fn refuse_depth(place: SourceSpan, tokens: &mut Tokens, report: &mut ProblemReport) {
    report.error(place, format!("blocks are nested more than {DEPTH_MAX} deep"));
    tokens.by_ref().for_each(drop);
}

/// Maximum nesting of blocks.
const DEPTH_MAX: usize = 64;
