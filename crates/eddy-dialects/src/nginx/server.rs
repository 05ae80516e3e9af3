//! `server`: names, addresses and contents.

use eddy_route::nginx::{BlockKind, NameForm, ServerName, ServerSpec};
use eddy_spec::problem::{SourceSpan, shown};

use super::block::SERVER;
use super::listen::Listen;
use super::location::{LocationContext, place_of};
use super::reader::NginxReader;
use super::scope::BlockSettings;
use super::tree::{Directive, NginxWord};

/// Server as read, with the parts that do not belong to its places.
pub(super) struct ServerRead {
    pub(super) index: u32,
    pub(super) listens: Vec<Listen>,
    pub(super) scope: BlockSettings,
    pub(super) place: SourceSpan,
}

impl NginxReader<'_, '_> {
    pub(super) fn server(&mut self, directive: &Directive, outer: &BlockSettings) -> ServerRead {
        let block = directive.block.as_deref().unwrap_or_default();
        let directives = self.accepted(block, SERVER);
        let scope = outer.within(&directives, self).guarded(outer, block);
        self.constants.enter_server(block);
        let (mut names, mut listens) = (Vec::new(), Vec::new());
        for directive in &directives {
            match directive.name.text.as_str() {
                "server_name" => {
                    names.extend(directive.arguments.iter().filter_map(|name| self.server_name(name)))
                }
                "listen" => listens.extend(self.listen(&directive.arguments)),
                _ => {}
            }
        }
        if listens.is_empty() && !directives.iter().any(|directive| directive.name.text == "listen") {
            let word = NginxWord { text: "80".to_owned(), place: directive.name.place };
            listens.extend(self.listen(&[word]));
        }
        if names.is_empty() {
            names.extend(ServerName::parse(""));
        }
        let label = match (names.first(), listens.first()) {
            (Some(name), _) if !name.text.is_empty() => name.text.to_string(),
            (_, Some(listen)) => listen.address.to_string(),
            _ => "server".to_owned(),
        };
        let place = place_of(&scope, &label, self.origin(directive.name.place), BlockKind::Server);
        let place = self.add_block(place);
        let steps = self.steps(&directives, SERVER, &mut |_, _| None);
        let outer =
            LocationContext { scope: &scope, label: &label, text: None, may_hold: true, is_server: true };
        let locations = self.locations(&directives, &outer);
        let try_files_fallback = self.try_files_fallback(&directives);
        if let Some(spec) = self.spec.places.get_mut(place as usize) {
            spec.steps = steps;
            spec.try_files_fallback = try_files_fallback;
        }
        self.spec.servers.push(ServerSpec {
            names,
            place,
            locations,
            merges_slashes: scope.merges_slashes,
            field_names: scope.field_names(),
        });
        let index = u32::try_from(self.spec.servers.len() - 1).expect("fewer servers than `u32` counts");
        ServerRead { index, listens, scope, place: directive.name.place }
    }

    fn server_name(&mut self, word: &NginxWord) -> Option<ServerName> {
        if word.text == "$hostname" {
            let message = "eddy does not read the host name of the machine";
            self.refuse(word.place, message, "write the name");
            return None;
        }
        match ServerName::parse(&word.text) {
            Ok(mut name) => {
                if let NameForm::Pattern(pattern) = &mut name.form
                    && let Err(taken) = pattern.bind(&mut self.spec.variables)
                {
                    let message =
                        format!("a group cannot have the name `{}` of a built-in variable", shown(&taken));
                    self.report.error(word.place, message);
                    return None;
                }
                Some(name)
            }
            Err(fault) => {
                self.report.error(word.place, fault.to_string()).hint(
                    "write `example.com`, `*.example.com`, `.example.com`, `example.*` or `~expression`",
                );
                None
            }
        }
    }
}
