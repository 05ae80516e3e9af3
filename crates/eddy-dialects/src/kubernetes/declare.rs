//! Macro that declares a mapping of an object: its keys and their types.

/// Declares a mapping of a Kubernetes object: a struct with an optional field for each key that eddy reads.
///
/// `required` keys must be given. `passed` keys, which follow the mapping, are known and have no effect. Any other key
/// is an error, or a warning with `--lenient`; for `refused` keys the message gives the reason. A key without a value
/// counts as absent.
macro_rules! object {
    (
        $(#[doc = $about:literal])+
        $name:ident as $title:literal {
            $(
                $(#[doc = $text:literal])*
                $need:ident $field:ident $key:literal: $value:ty;
            )*
        }
        $(passed $($passed:literal)+;)?
        $(refused $refused:literal $why:literal;)*
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $(
                $(#[doc = $text])*
                pub(crate) $field: Option<eddy_spec::read::Spanned<$value>>,
            )*
        }

        impl $name {
            const TITLE: &str = $title;
            const KEYS: &[&str] = &[$($key,)* $($($passed,)+)? $($refused,)*];
        }

        impl eddy_spec::read::FromNode for $name {
            fn read(node: &eddy_spec::yaml::YamlNode<'_>, report: &mut eddy_spec::problem::ProblemReport) -> Option<Self> {
                #[allow(unused_mut, reason = "some mappings have only ignored keys")]
                let mut spec = Self::default();
                // Built once, however many keys are unknown.
                static SHAPE: std::sync::LazyLock<eddy_spec::read::ValueSchema> =
                    std::sync::LazyLock::new(<$name as eddy_spec::read::FromNode>::shape);
                let mut meant: Vec<&'static str> = Vec::new();
                for entry in eddy_spec::read::entries_of::<Self>(node, report)? {
                    match &*entry.key.text {
                        $($key => {
                            if !entry.value.is_nothing() {
                                spec.$field = eddy_spec::read::Spanned::read(&entry.value, report);
                            }
                        })*
                        $($($passed)|+ => {})?
                        $($refused => {
                            let message = concat!("`", $refused, "` is not supported: ", $why);
                            report.objection(entry.key.place, message).hint("leave it out");
                        })*
                        _ => meant.extend(eddy_spec::read::unknown_key(entry, Self::TITLE, Self::KEYS, || &SHAPE, report)),
                    }
                }
                let entries = eddy_spec::read::MappingContext { node, title: Self::TITLE, meant: &meant };
                $(object!(@$need entries, $key, report);)*
                let _ = entries;
                Some(spec)
            }

            fn shape() -> eddy_spec::read::ValueSchema {
                eddy_spec::read::ValueSchema::Word(eddy_spec::read::WordInfo::text(concat!("a mapping (", $title, ")")))
            }

            fn fits(node: &eddy_spec::yaml::YamlNode<'_>) -> bool {
                matches!(node.form, eddy_spec::yaml::YamlNodeKind::Mapping { .. })
            }
        }
    };
    (@required $entries:ident, $key:literal, $report:ident) => { $entries.note_needed($key, $report) };
    (@optional $entries:ident, $key:literal, $report:ident) => {};
}
