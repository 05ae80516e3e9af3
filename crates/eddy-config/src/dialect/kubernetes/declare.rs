//! Macro that declares a mapping of an object: its keys and their types.

/// Declares a mapping of a Kubernetes object: a struct with an optional field for each key that eddy reads.
///
/// `required` keys must be given. `passed` keys are known and have no effect. Any other key is an error, or a warning
/// with `--lenient`; for `refused` keys the message gives the reason. A key without a value counts as absent.
macro_rules! object {
    (
        $(#[doc = $about:literal])+
        $name:ident as $title:literal {
            $(
                $(#[doc = $text:literal])+
                $need:ident $field:ident $key:literal: $value:ty;
            )*
            $(passed $($passed:literal)+;)?
            $(refused $refused:literal $why:literal;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub(in crate::dialect) struct $name {
            $(
                $(#[doc = $text])+
                pub(in crate::dialect) $field: Option<crate::read::Spanned<$value>>,
            )*
        }

        impl $name {
            const TITLE: &str = $title;
            const KEYS: &[&str] = &[$($key,)* $($($passed,)+)? $($refused,)*];
        }

        impl crate::read::FromNode for $name {
            fn read(node: &crate::yaml::YamlNode<'_>, report: &mut crate::problem::ProblemReport) -> Option<Self> {
                #[allow(unused_mut, reason = "some mappings have only ignored keys")]
                let mut spec = Self::default();
                // Built once, however many keys are unknown.
                static SHAPE: std::sync::LazyLock<crate::read::ValueSchema> =
                    std::sync::LazyLock::new(<$name as crate::read::FromNode>::shape);
                let mut meant: Vec<&'static str> = Vec::new();
                for entry in crate::read::entries_of::<Self>(node, report)? {
                    match &*entry.key.text {
                        $($key => {
                            if !entry.value.is_nothing() {
                                spec.$field = crate::read::Spanned::read(&entry.value, report);
                            }
                        })*
                        $($($passed)|+ => {})?
                        $($refused => {
                            let message = concat!("`", $refused, "` is not supported: ", $why);
                            report.objection(entry.key.place, message).hint("leave it out");
                        })*
                        _ => meant.extend(crate::read::unknown_key(entry, Self::TITLE, Self::KEYS, || &SHAPE, report)),
                    }
                }
                let entries = crate::read::MappingContext { node, title: Self::TITLE, meant: &meant };
                $(object!(@$need entries, $key, report);)*
                let _ = entries;
                Some(spec)
            }

            fn shape() -> crate::read::ValueSchema {
                crate::read::ValueSchema::Word(crate::read::WordInfo::text(concat!("a mapping (", $title, ")")))
            }

            fn fits(node: &crate::yaml::YamlNode<'_>) -> bool {
                matches!(node.form, crate::yaml::YamlNodeKind::Mapping { .. })
            }
        }
    };
    (@required $entries:ident, $key:literal, $report:ident) => { $entries.note_needed($key, $report) };
    (@optional $entries:ident, $key:literal, $report:ident) => {};
}
