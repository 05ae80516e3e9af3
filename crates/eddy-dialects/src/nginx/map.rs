//! `map`: a variable whose value depends on that of another.

use eddy_route::nginx::{MapForm, MapRow, MapSpec, ServerName, TextTemplate};
use eddy_spec::problem::shown;

use super::reader::NginxReader;
use super::tree::Directive;

impl NginxReader<'_, '_> {
    /// Reads a map and keeps it; one whose variable nothing reads, or only a log does, has no effect.
    pub(super) fn map(&mut self, directive: &Directive) {
        let [source, name] = directive.arguments.as_slice() else { return };
        let Some(variable) = name.text.strip_prefix('$') else {
            self.misfit::<()>(name, "a variable such as `$name`");
            return;
        };
        let Some(slot) = self.spec.variables.define(variable) else {
            let message = format!("`${}` is a built-in variable and cannot be set by a map", shown(variable));
            self.report.error(name.place, message).hint("use another name");
            return;
        };
        if !self.read_names.contains(&variable.to_ascii_lowercase()) {
            return;
        }
        let Some(source) = self.text(source) else {
            self.unread.insert(slot);
            return;
        };
        let rows = directive.block.as_deref().unwrap_or_default();
        let has_hostnames = rows.iter().any(|row| row.name.text == "hostnames" && row.arguments.is_empty());
        let mut map = MapSpec {
            slot,
            source,
            rows: Vec::new(),
            default: TextTemplate::default(),
            has_hostnames,
            is_volatile: false,
        };
        for row in rows {
            self.map_row(row, &mut map);
        }
        self.spec.maps.push(map);
    }

    fn map_row(&mut self, row: &Directive, map: &mut MapSpec) {
        let place = row.name.place;
        let key = row.name.text.as_str();
        let [value] = row.arguments.as_slice() else {
            match (key, row.arguments.is_empty()) {
                ("hostnames", true) => {}
                ("volatile", true) => map.is_volatile = true,
                _ => {
                    self.report.error(place, "a map entry needs a key and one value");
                }
            }
            return;
        };
        let Some(value) = self.text(value) else {
            self.unread.insert(map.slot);
            return;
        };
        if key == "default" {
            map.default = value;
            return;
        }
        let form = match key.strip_prefix('~') {
            Some(pattern) => self.marked_pattern(pattern, place).map(MapForm::Pattern),
            None if map.has_hostnames && (key.contains('*') || key.starts_with('.')) => {
                match ServerName::parse(key) {
                    Ok(name) => Some(MapForm::Host(name)),
                    Err(fault) => {
                        self.report.error(place, fault.to_string());
                        None
                    }
                }
            }
            // A leading `\` makes words such as `default` literal.
            None => Some(MapForm::Text(key.strip_prefix('\\').unwrap_or(key).into())),
        };
        map.rows.extend(form.map(|form| MapRow { form, value }));
    }
}
