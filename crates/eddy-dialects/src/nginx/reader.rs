//! State shared by the readers of all blocks: the report, the variables, and the configuration read so far.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use eddy_check::ClusterDraft;
use eddy_config::Action;
use eddy_ids::{ClusterId, Shared};
use eddy_route::SourceLocation;
use eddy_route::nginx::{LetterCase, SearchPattern, SitesSpec, TextFault, TextTemplate};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, origin_of, shown};

use super::catalogue::{self, Use};
use super::constants::Constants;
use super::harmless::{changes_nothing, is_unused};
use super::name_servers::NameServers;
use super::tree::{Directive, NginxWord};
use super::upstream_group::UpstreamGroup;
use super::value::{parse_size, parse_time};
use super::{block, guard};

/// Reader of an NGINX configuration.
pub(super) struct NginxReader<'r, 'l> {
    pub(super) report: &'r mut ProblemReport,
    pub(super) sources: &'r [SourceText],
    /// Servers, locations, maps and variables.
    pub(super) spec: SitesSpec,
    pub(super) actions: Vec<Shared<Action>>,
    /// Where clusters go.
    pub(super) output: NginxOutput<'r, 'l>,
    /// Hash keys of clusters that balance by one.
    pub(super) hash_keys: HashMap<ClusterId, TextTemplate>,
    /// Clusters by target and settings.
    pub(super) cluster_keys: HashMap<ClusterKey, ClusterId>,
    /// Number of clusters for each host.
    pub(super) clusters_of: HashMap<String, usize>,
    /// Upstream groups, by name in lower case.
    pub(super) groups: HashMap<String, UpstreamGroup>,
    /// Possible values of variables, as far as the configuration determines them.
    pub(super) constants: Constants,
    /// Variables that somewhere get a value that eddy cannot read.
    pub(super) unread: HashSet<u32>,
    /// Whether `worker_processes` is given, and so that there is more than one worker.
    pub(super) has_workers: bool,
    /// The `resolver` of `http`.
    pub(super) resolver: Option<NameServers>,
    /// Names of the variables that directives read.
    pub(super) read_names: HashSet<String>,
    /// Source positions where variables of the configuration are first read.
    pub(super) first_uses: HashMap<u32, SourceSpan>,
    /// Names that `proxy_pass` may use besides upstreams.
    pub(super) targets: Targets,
    /// Directory that relative paths are resolved against.
    pub(super) folder: PathBuf,
}

/// Key that distinguishes a cluster from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClusterKey {
    /// Target of the cluster, in lower case.
    pub(super) host: String,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    /// TLS settings for upstreams, if they use TLS.
    pub(super) tls: Option<String>,
    /// Name servers, if not those of the system.
    pub(super) resolver: Option<NameServers>,
}

/// Where the parts of an NGINX configuration go.
pub(crate) struct NginxOutput<'o, 'l> {
    /// Clusters that the configuration adds to.
    pub(crate) clusters: &'o mut ClusterDraft<'l>,
    /// Index of the NGINX configuration.
    pub(crate) sites: usize,
    /// Table that the configuration is read for: its clusters are named `TABLE/NAME`, and no others may have such names.
    pub(crate) table: Option<&'o Shared<str>>,
    /// Position of the configuration in the text that names it.
    pub(crate) place: SourceSpan,
}

/// Targets that `proxy_pass` may name besides upstreams, in directives that another dialect generates: names that stand
/// for several upstreams, and upstreams that values may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// Upstreams chosen by weight, by their common name.
    pub(crate) splits: HashMap<String, Vec<(String, u32)>>,
    /// The only names that a value may have, by the text of the value.
    pub(crate) choices: HashMap<String, Vec<String>>,
}

impl<'r, 'l> NginxReader<'r, 'l> {
    /// Creates a reader that has read nothing yet.
    pub(super) fn new(
        sources: &'r [SourceText],
        output: NginxOutput<'r, 'l>,
        report: &'r mut ProblemReport,
    ) -> Self {
        Self {
            report,
            sources,
            spec: SitesSpec::default(),
            actions: Vec::new(),
            output,
            hash_keys: HashMap::new(),
            cluster_keys: HashMap::new(),
            clusters_of: HashMap::new(),
            groups: HashMap::new(),
            constants: Constants::default(),
            unread: HashSet::new(),
            has_workers: false,
            resolver: None,
            read_names: HashSet::new(),
            first_uses: HashMap::new(),
            targets: Targets::default(),
            folder: PathBuf::new(),
        }
    }

    /// Whether a directive is to be read here; if not, the reason is reported where there is one.
    pub(super) fn accepts(&mut self, directive: &Directive, here: u16) -> bool {
        let Directive { name: NginxWord { text, place }, arguments, block } = directive;
        if is_unused(text, here) {
            return false;
        }
        let Some(known) = catalogue::find(text, here) else {
            let meant =
                self.report.closest(text, catalogue::names()).map(|name| format!("did you mean `{name}`?"));
            let message = format!("unknown directive `{}`", shown(text));
            self.refuse_directive(directive, here, message, meant);
            return false;
        };
        if known.blocks & here == 0 {
            let message = format!("`{text}` is not allowed here ({})", block::names(here));
            self.report.error(*place, message).hint(format!("allowed in: {}", block::names(known.blocks)));
            return false;
        }
        if guard::is_decided(directive) || changes_nothing(directive) {
            return false;
        }
        match known.use_ {
            Use::Read(_) => {}
            Use::Idle(_) => return false,
            Use::Warned(reason) => {
                self.report.warning(*place, format!("`{text}` has no effect in eddy: {reason}"));
                return false;
            }
            Use::Refused(reason) => {
                let message = format!("eddy does not support `{text}`: {reason}");
                self.refuse_directive(directive, here, message, None);
                return false;
            }
        }
        let (least, most) = known.arguments;
        if arguments.len() < least || arguments.len() > most {
            let wanted = match (least, most) {
                (0, 0) => "none".to_owned(),
                (least, usize::MAX) => format!("{least} or more"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            };
            let message = format!("`{text}` has {} arguments, expected {wanted}", arguments.len());
            self.report.error(*place, message);
            return false;
        }
        let is_block =
            matches!(text.as_str(), "events" | "http" | "location" | "if" | "upstream" | "map" | "types")
                || (text == "server" && here == block::HTTP);
        if is_block != block.is_some() {
            let message = if is_block {
                format!("`{text}` needs a block in `{{}}`")
            } else {
                format!("`{text}` can't have a block; end it with `;`")
            };
            self.report.error(*place, message);
            return false;
        }
        true
    }

    /// Returns the directives of a block that are to be read here.
    pub(super) fn accepted(&mut self, block: &[Directive], here: u16) -> Vec<Directive> {
        block.iter().filter(|directive| self.accepts(directive, here)).cloned().collect()
    }

    /// Whether a directive is read here; reports nothing.
    pub(super) fn catalogued(&self, directive: &Directive, here: u16) -> bool {
        let known = catalogue::find(&directive.name.text, here);
        known.is_some_and(|known| known.blocks & here != 0 && matches!(known.use_, Use::Read(_)))
    }

    /// Reports what eddy does not support: an error, or a warning with `--lenient`.
    pub(super) fn refuse(&mut self, place: SourceSpan, message: impl Into<String>, hint: impl Into<String>) {
        self.report.objection(place, message).hint(hint);
    }

    /// Returns the file and line of a directive.
    pub(super) fn origin(&self, place: SourceSpan) -> SourceLocation {
        origin_of(place, self.sources)
    }

    /// Reads a value, possibly with variables.
    pub(super) fn text(&mut self, word: &NginxWord) -> Option<TextTemplate> {
        self.text_at(&word.text, word.place)
    }

    /// Reads a value at `place`.
    pub(super) fn text_at(&mut self, text: &str, place: SourceSpan) -> Option<TextTemplate> {
        match TextTemplate::parse(text, &mut self.spec.variables) {
            Ok(template) => {
                for slot in template.slots() {
                    self.first_uses.entry(slot).or_insert(place);
                }
                Some(template)
            }
            Err(fault @ TextFault::Refused { .. }) => {
                self.refuse(place, fault.to_string(), "leave it out");
                None
            }
            Err(fault @ TextFault::NoName) => {
                self.report
                    .error(place, format!("{fault}"))
                    .hint("a name consists of letters, digits and `_`");
                None
            }
        }
    }

    /// Reads a regular expression; its named groups become variables.
    pub(super) fn pattern(
        &mut self,
        text: &str,
        place: SourceSpan,
        case: LetterCase,
    ) -> Option<SearchPattern> {
        match SearchPattern::parse(text, case) {
            Ok(mut pattern) => {
                if let Err(name) = pattern.bind(&mut self.spec.variables) {
                    let message = format!("a group cannot have the name `{name}` of a built-in variable");
                    self.report.error(place, message);
                    return None;
                }
                Some(pattern)
            }
            Err(problem) => {
                let hint = "look-around, back-references and possessive repetition are not supported, as \
                            they can take exponential time; write a separate location for the paths that a \
                            `(?!...)` excludes";
                self.report.error(place, problem.to_string()).hint(hint);
                None
            }
        }
    }

    /// Reads a regular expression as written after a `~`; after `*`, letter case is ignored.
    pub(super) fn marked_pattern(&mut self, text: &str, place: SourceSpan) -> Option<SearchPattern> {
        match text.strip_prefix('*') {
            Some(text) => self.pattern(text, place, LetterCase::Ignored),
            None => self.pattern(text, place, LetterCase::Counts),
        }
    }

    /// Reads `on` or `off`.
    pub(super) fn flag(&mut self, word: &NginxWord) -> Option<bool> {
        match word.text.as_str() {
            "on" => Some(true),
            "off" => Some(false),
            _ => self.misfit(word, "`on` or `off`"),
        }
    }

    /// Reads a time from a millisecond to a day; a longer one, as is common for WebSockets, becomes a day.
    pub(super) fn time(&mut self, word: &NginxWord) -> Option<Duration> {
        const MOST: Duration = Duration::from_secs(86_400);
        match parse_time(&word.text).filter(|time| *time >= Duration::from_millis(1)) {
            Some(time) if time > MOST => {
                let message = format!("`{}` is longer than eddy's maximum of one day", shown(&word.text));
                self.report.warning(word.place, message).hint("write `1d`");
                Some(MOST)
            }
            Some(time) => Some(time),
            None => self.misfit(word, "a time from 1ms to 1d such as `60s`"),
        }
    }

    pub(super) fn size(&mut self, word: &NginxWord) -> Option<u64> {
        match parse_size(&word.text) {
            Some(size) => Some(size),
            None => self.misfit(word, "a size such as `8k` or `1m`"),
        }
    }

    /// Reads a number within bounds.
    pub(super) fn number(&mut self, word: &NginxWord, least: u64, most: u64) -> Option<u64> {
        match word.text.parse().ok().filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(number),
            None => self.misfit(word, &format!("a number from {least} to {most}")),
        }
    }

    /// Reports that a word is not what is expected.
    pub(super) fn misfit<T>(&mut self, word: &NginxWord, wanted: &str) -> Option<T> {
        self.report.error(word.place, format!("`{}` is not {wanted}", shown(&word.text)));
        None
    }
}
