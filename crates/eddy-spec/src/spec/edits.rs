//! Header changes, as written.

use crate::read::{NamedMap, OneOrMany, Spanned};
use crate::value::{BoundedText, FieldName};

mapping! {
    /// Header changes: first `remove`, then `set`, then `add`. Headers that frame a message and hop-by-hop headers
    /// cannot be changed.
    EditsSpec as "header changes" {
        /// Headers to remove.
        optional remove: Vec<Spanned<FieldName>>, otherwise "none", example "[server, x-powered-by]";
        /// Headers and their new value, which replaces all existing values.
        optional set: NamedMap<FieldName, BoundedText<8192>>, otherwise "none", example "{x-frame-options: DENY}";
        /// Headers and a value, or a list of values, added to the existing ones.
        optional add: NamedMap<FieldName, OneOrMany<BoundedText<8192>>>, otherwise "none", example "{set-cookie: [a=1, b=2]}";
    }
}
