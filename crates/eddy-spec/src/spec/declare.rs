//! The macro that declares a mapping of the file format: its keys, their types, defaults and documentation.

/// Declares a mapping with known keys: a struct with an optional field for each key, its reader and its schema.
///
/// `required` keys must be given. `default` is the value of a key that is not given, in the form in which it would be
/// written; `otherwise` describes in words the effect of leaving the key out. `example` is a value that can be written
/// in one line. A `group` states how many of some keys are given.
macro_rules! mapping {
    (
        $(#[doc = $about:literal])+
        $name:ident as $title:literal {
            $(
                $(#[doc = $text:literal])+
                $need:ident $key:ident: $value:ty
                $(, default $default:literal)? $(, otherwise $otherwise:literal)?, example $example:literal;
            )+
            $(group $count:ident of $($member:ident)+;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $(
                $(#[doc = $text])+
                pub $key: Option<crate::read::Spanned<$value>>,
            )+
        }

        impl $name {
            const TITLE: &str = $title;
            const KEYS: &[&str] = &[$(mapping!(@name $key)),+];
            const GROUPS: &[crate::read::KeyGroup] = &[$(
                crate::read::KeyGroup {
                    count: crate::read::KeyGroupCount::$count,
                    keys: &[$(mapping!(@name $member)),+],
                }
            ),*];
        }

        impl crate::read::FromNode for $name {
            fn read(node: &crate::yaml::YamlNode<'_>, report: &mut crate::problem::ProblemReport) -> Option<Self> {
                let mut spec = Self::default();
                // Built once, however many keys are unknown.
                static SHAPE: std::sync::LazyLock<crate::read::ValueSchema> =
                    std::sync::LazyLock::new(<$name as crate::read::FromNode>::shape);
                let mut meant: Vec<&'static str> = Vec::new();
                for entry in crate::read::entries_of::<Self>(node, report)? {
                    match &*entry.key.text {
                        $(key if key == mapping!(@name $key) => {
                            spec.$key = crate::read::Spanned::read(&entry.value, report);
                        })+
                        _ => meant.extend(crate::read::unknown_key(entry, Self::TITLE, Self::KEYS, || &SHAPE, report)),
                    }
                }
                let entries = crate::read::MappingContext { node, title: Self::TITLE, meant: &meant };
                $(mapping!(@$need entries, $key, $example, report);)+
                for group in Self::GROUPS {
                    entries.note_group(group, report);
                }
                Some(spec)
            }

            fn shape() -> crate::read::ValueSchema {
                crate::read::ValueSchema::Mapping(crate::read::MappingInfo {
                    name: Self::TITLE,
                    about: concat!($($about, "\n"),+).to_owned(),
                    keys: vec![$(
                        crate::read::KeyInfo {
                            name: mapping!(@name $key),
                            text: concat!($($text, "\n"),+).to_owned(),
                            is_required: mapping!(@is_required $need),
                            default: mapping!(@option $($default)?),
                            otherwise: mapping!(@option $($otherwise)?),
                            example: $example,
                            shape: <$value as crate::read::FromNode>::shape(),
                            #[cfg(test)]
                            is_readable: |node, report| crate::read::Spanned::<$value>::read(node, report).is_some(),
                        }
                    ),+],
                    groups: Self::GROUPS,
                })
            }

            fn fits(node: &crate::yaml::YamlNode<'_>) -> bool {
                matches!(node.form, crate::yaml::YamlNodeKind::Mapping { .. })
            }
        }
    };
    // `match` is a Rust keyword and cannot name a field.
    (@name conditions) => { "match" };
    (@name $key:ident) => { stringify!($key) };
    (@required $entries:ident, $key:ident, $example:literal, $report:ident) => {
        $entries.note_missing(mapping!(@name $key), $example, $report)
    };
    (@optional $entries:ident, $key:ident, $example:literal, $report:ident) => {};
    (@is_required required) => { true };
    (@is_required optional) => { false };
    (@option $text:literal) => { Some($text) };
    (@option) => { None };
}
