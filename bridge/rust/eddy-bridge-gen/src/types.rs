//! The types that can cross the bridge.

use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, PathSegment};

/// A type of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// No value, as a result.
    Unit,
    Bool,
    Scalar(Scalar),
    Str {
        owner: MemoryOwner,
    },
    List {
        of: Box<Self>,
        owner: MemoryOwner,
    },
    Map {
        key: Box<Self>,
        value: Box<Self>,
    },
    Option(Box<Self>),
    Result(Box<Self>, Box<Self>),
    Record(Ident),
}

/// Owner of the memory of a string or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOwner {
    /// The caller, for the duration of the call.
    Caller,
    /// The value itself.
    Own,
}

/// A number type: its Rust name, its Go name, and its name in methods of the Go package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) rust: &'static str,
    pub(crate) go: &'static str,
    pub(crate) method: &'static str,
}

const SCALARS: [Scalar; 10] = [
    Scalar { rust: "u8", go: "uint8", method: "U8" },
    Scalar { rust: "u16", go: "uint16", method: "U16" },
    Scalar { rust: "u32", go: "uint32", method: "U32" },
    Scalar { rust: "u64", go: "uint64", method: "U64" },
    Scalar { rust: "i8", go: "int8", method: "I8" },
    Scalar { rust: "i16", go: "int16", method: "I16" },
    Scalar { rust: "i32", go: "int32", method: "I32" },
    Scalar { rust: "i64", go: "int64", method: "I64" },
    Scalar { rust: "f32", go: "float32", method: "F32" },
    Scalar { rust: "f64", go: "float64", method: "F64" },
];

/// Supported types, for error messages.
pub(crate) const KNOWN: &str =
    "numbers of 8 to 64 bits, bool, &str, String, &[T], Vec<T>, HashMap, BTreeMap, Option, Result";

impl Type {
    /// Parses a type.
    ///
    /// # Errors
    ///
    /// A type that can't cross the bridge.
    pub(crate) fn parse(written: &syn::Type) -> syn::Result<Self> {
        match written {
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(Self::Unit),
            syn::Type::Tuple(tuple) => Err(wrong(tuple, "a tuple has no field names: declare a struct")),
            syn::Type::Paren(inner) => Self::parse(&inner.elem),
            syn::Type::Group(inner) => Self::parse(&inner.elem),
            syn::Type::Reference(reference) => Self::parse_reference(reference),
            syn::Type::Path(path) if path.qself.is_none() => match path.path.segments.last() {
                Some(segment) => Self::parse_segment(segment),
                None => Err(unknown(written)),
            },
            syn::Type::Array(array) => Err(wrong(array, "an array can't cross: use Vec<T> or &[T]")),
            syn::Type::Slice(slice) => Err(wrong(slice, "a slice is passed as &[T] or Vec<T>")),
            _ => Err(unknown(written)),
        }
    }

    fn parse_reference(reference: &syn::TypeReference) -> syn::Result<Self> {
        if let Some(mutable) = &reference.mutability {
            return Err(wrong(mutable, "values can't be changed in place: return the new value"));
        }
        match &*reference.elem {
            syn::Type::Slice(slice) => {
                let of = Self::parse(&slice.elem)?;
                Ok(Self::List { of: Box::new(of.for_list(&slice.elem)?), owner: MemoryOwner::Caller })
            }
            syn::Type::Path(path) if path.path.is_ident("str") => {
                Ok(Self::Str { owner: MemoryOwner::Caller })
            }
            syn::Type::Path(path) if path.path.is_ident("String") => {
                Err(wrong(reference, "a borrowed string is passed as &str"))
            }
            // A reference to a whole value only selects how it is passed.
            other => Self::parse(other),
        }
    }

    fn parse_segment(segment: &PathSegment) -> syn::Result<Self> {
        let name = segment.ident.to_string();
        if let Some(scalar) = SCALARS.iter().find(|scalar| scalar.rust == name) {
            return Ok(Self::Scalar(*scalar));
        }
        match name.as_str() {
            "bool" => Ok(Self::Bool),
            "String" => Ok(Self::Str { owner: MemoryOwner::Own }),
            "str" => Err(wrong(segment, "a string is passed as &str or String")),
            "usize" => Err(wrong(segment, "`usize` differs between machines: use u64")),
            "isize" => Err(wrong(segment, "`isize` differs between machines: use i64")),
            "char" => Err(wrong(segment, "Go has no char: use u32 or String")),
            "u128" | "i128" => Err(wrong(segment, "Go has no 128-bit integers: use two of 64 bits")),
            "Box" | "Rc" | "Arc" | "Cow" | "Cell" | "RefCell" | "Mutex" => {
                Err(wrong(segment, "containers of values can't cross: use the type of the value"))
            }
            "HashSet" | "BTreeSet" | "VecDeque" => Err(wrong(segment, "use Vec<T>")),
            "Self" => Err(unknown(segment)),
            "Vec" => {
                let [of] = arguments(segment)?;
                Ok(Self::List { of: Box::new(Self::parse(of)?.for_list(of)?), owner: MemoryOwner::Own })
            }
            "HashMap" | "BTreeMap" => Self::parse_map(segment),
            "Option" => {
                let [value] = arguments(segment)?;
                Ok(Self::Option(Box::new(Self::parse(value)?.for_field(value)?)))
            }
            "Result" => {
                let [value, error] = arguments(segment)?;
                let parsed = Self::parse(error)?.for_field(error)?;
                Ok(Self::Result(Box::new(Self::parse(value)?), Box::new(parsed)))
            }
            _ => Ok(Self::Record(segment.ident.clone())),
        }
    }

    fn parse_map(segment: &PathSegment) -> syn::Result<Self> {
        let [key, value] = arguments(segment)?;
        let parsed = Self::parse(key)?;
        let is_number = matches!(&parsed, Self::Scalar(scalar) if !scalar.rust.starts_with('f'));
        if !is_number && !matches!(parsed, Self::Bool | Self::Str { owner: MemoryOwner::Own }) {
            return Err(wrong(key, "a map key must be an integer, a bool or a String"));
        }
        let value = Self::parse(value)?.for_field(value)?;
        Ok(Self::Map { key: Box::new(parsed), value: Box::new(value) })
    }

    /// Checks that the type may be an element of a list.
    fn for_list(self, at: &impl Spanned) -> syn::Result<Self> {
        self.for_field(at)
    }

    /// Checks that the type may be part of another one.
    pub(crate) fn for_field(self, at: &impl Spanned) -> syn::Result<Self> {
        if self == Self::Unit {
            return Err(wrong(at, "() is only allowed as a result, or as the value of a Result"));
        }
        Ok(self)
    }

    /// Returns the structs that it contains.
    pub(crate) fn records(&self) -> Vec<&Ident> {
        match self {
            Self::Unit | Self::Bool | Self::Scalar(_) | Self::Str { .. } => Vec::new(),
            Self::List { of, .. } | Self::Option(of) => of.records(),
            Self::Map { key, value } | Self::Result(key, value) => [key.records(), value.records()].concat(),
            Self::Record(name) => vec![name],
        }
    }

    /// Whether it is read as a reference into the message.
    pub(crate) fn is_view(&self) -> bool {
        match self {
            Self::Str { owner } => *owner == MemoryOwner::Caller,
            Self::List { of, owner } => *owner == MemoryOwner::Caller && matches!(**of, Self::Scalar(_)),
            Self::Unit
            | Self::Bool
            | Self::Scalar(_)
            | Self::Map { .. }
            | Self::Option(_)
            | Self::Result(..)
            | Self::Record(_) => false,
        }
    }
}

/// Returns the types in the angle brackets of a segment.
fn arguments<const N: usize>(segment: &PathSegment) -> syn::Result<[&syn::Type; N]> {
    let PathArguments::AngleBracketed(written) = &segment.arguments else {
        return Err(wrong(segment, &format!("`{}` needs {N} types in angle brackets", segment.ident)));
    };
    let types: Vec<&syn::Type> = written
        .args
        .iter()
        .filter_map(|argument| match argument {
            GenericArgument::Type(of) => Some(of),
            _ => None,
        })
        .collect();
    types
        .try_into()
        .map_err(|_| wrong(segment, &format!("`{}` needs {N} types in angle brackets", segment.ident)))
}

fn unknown(at: &impl Spanned) -> syn::Error {
    wrong(
        at,
        &format!("this type can't cross the bridge; supported types: {KNOWN}, and structs of this file"),
    )
}

fn wrong(at: &impl Spanned, message: &str) -> syn::Error {
    syn::Error::new(at.span(), message)
}
