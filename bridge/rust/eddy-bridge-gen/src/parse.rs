//! Parses declarations.

use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, Ident, Item, ItemStruct, ItemTrait, Lit, Meta, Pat, ReturnType, TraitItem,
};

use crate::declaration::{
    Callee, CallingConvention, Declaration, FieldDeclaration, MethodDeclaration, RecordDeclaration,
    ServiceDeclaration,
};
use crate::types::{MemoryOwner, Type};

/// Parses a file: its traits and structs that have our attributes, and nothing else.
///
/// # Errors
///
/// All errors, combined.
pub(crate) fn file(file: &syn::File) -> syn::Result<Declaration> {
    let mut declaration = Declaration::default();
    let mut problems = Problems::default();
    for item in &file.items {
        match item {
            Item::Trait(item) => {
                if let Some(callee) = callee(&item.attrs) {
                    declaration.services.extend(problems.take(service(item, callee)));
                }
            }
            Item::Struct(item) if derives_record(&item.attrs) => {
                declaration.records.extend(problems.take(record(item)));
            }
            _ => {}
        }
    }
    problems.into_result(declaration)
}

/// Parses a trait.
///
/// # Errors
///
/// All errors, combined.
pub(crate) fn service(item: &ItemTrait, callee: Callee) -> syn::Result<ServiceDeclaration> {
    let mut problems = Problems::default();
    if !item.generics.params.is_empty() {
        problems.add(&item.generics, "a service can't be generic: its types are fixed by the declaration");
    }
    let mut methods = Vec::new();
    for inner in &item.items {
        match inner {
            TraitItem::Fn(function) => methods.extend(problems.take(method(function, callee))),
            other => problems.add(other, "a service can only have methods"),
        }
    }
    let name = item.ident.clone();
    problems.into_result(ServiceDeclaration { name, callee, docs: docs(&item.attrs), methods })
}

/// Parses a struct.
///
/// # Errors
///
/// All errors, combined.
pub(crate) fn record(item: &ItemStruct) -> syn::Result<RecordDeclaration> {
    let mut problems = Problems::default();
    let mut fields = Vec::new();
    if item.generics.type_params().next().is_some() || item.generics.const_params().next().is_some() {
        problems.add(&item.generics, "a struct that crosses the bridge can't have type parameters");
    }
    if item.generics.lifetimes().count() > 1 {
        problems.add(
            &item.generics,
            "a struct that crosses the bridge can have at most one lifetime, that of \
                                      the call",
        );
    }
    for field in &item.fields {
        let Some(name) = &field.ident else {
            problems.add(field, "a field needs a name, which is also its name in Go");
            continue;
        };
        let of = Type::parse(&field.ty).and_then(|of| of.for_field(&field.ty)).and_then(|of| {
            let is_reference = matches!(field.ty, syn::Type::Reference(_));
            if is_reference && !of.is_view() {
                let message =
                    "in a struct, only &str and slices of numbers can be borrowed: own the value, as in \
                     Vec<T>";
                return Err(syn::Error::new(field.ty.span(), message));
            }
            Ok(of)
        });
        let docs = docs(&field.attrs);
        fields.extend(problems.take(of).map(|of| FieldDeclaration {
            name: name.clone(),
            docs,
            of,
            is_lent: false,
        }));
    }
    if item.fields.is_empty() {
        problems.add(&item.ident, "a struct without fields has nothing to send");
    }
    problems.into_result(RecordDeclaration { name: item.ident.clone(), docs: docs(&item.attrs), fields })
}

fn method(function: &syn::TraitItemFn, callee: Callee) -> syn::Result<MethodDeclaration> {
    let mut problems = Problems::default();
    let signature = &function.sig;
    if !signature.generics.params.is_empty() {
        problems.add(&signature.generics, "a method can't have type or lifetime parameters");
    }
    if function.default.is_some() {
        problems.add(&signature.ident, "a method can't have a default body: it is implemented elsewhere");
    }
    let mut inputs = signature.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        _ => problems.add(&signature.ident, "a method must take &self: several threads call it concurrently"),
    }
    if inputs.len() > ARGUMENTS_MAX {
        problems.add(&signature.inputs, "a method can have at most 8 arguments: put them into a struct");
    }
    let mut arguments = Vec::new();
    for input in inputs {
        arguments.extend(problems.take(argument(input)).flatten());
    }
    let answer = match &signature.output {
        ReturnType::Default => Some(Type::Unit),
        ReturnType::Type(_, written) => problems.take(Type::parse(written).and_then(|of| owned(of, written))),
    };
    let manner = problems.take(manner(function, callee)).unwrap_or(CallingConvention::Waited);
    let answer = answer.unwrap_or(Type::Unit);
    let name = signature.ident.clone();
    problems.into_result(MethodDeclaration { name, docs: docs(&function.attrs), manner, arguments, answer })
}

fn argument(input: &FnArg) -> syn::Result<Option<FieldDeclaration>> {
    let FnArg::Typed(input) = input else { return Ok(None) };
    let Pat::Ident(name) = &*input.pat else {
        return Err(syn::Error::new(input.pat.span(), "an argument needs a name and a type"));
    };
    let of = Type::parse(&input.ty)?.for_field(&input.ty)?;
    let is_lent = matches!((&*input.ty, &of), (syn::Type::Reference(_), Type::Record(_)));
    Ok(Some(FieldDeclaration { name: name.ident.clone(), docs: Vec::new(), of, is_lent }))
}

fn manner(function: &syn::TraitItemFn, callee: Callee) -> syn::Result<CallingConvention> {
    let short = function.attrs.iter().find(|attribute| attribute.path().is_ident("short"));
    match (short, function.sig.asyncness) {
        (None, None) => Ok(CallingConvention::Waited),
        (None, Some(_)) => Ok(CallingConvention::Async),
        (Some(_), None) if callee == Callee::Rust => Ok(CallingConvention::Short),
        (Some(short), None) => Err(syn::Error::new(
            short.span(),
            "#[short] is not supported for calls from Rust to Go: remove it",
        )),
        (Some(short), Some(_)) => Err(syn::Error::new(short.span(), "a short method can't be async")),
    }
}

/// Checks a result type, which must not borrow memory of the callee.
fn owned(of: Type, written: &syn::Type) -> syn::Result<Type> {
    if has_views(&of) {
        let message = "a result can't borrow, because the call has ended: use String or Vec<T>";
        return Err(syn::Error::new(written.span(), message));
    }
    if let Type::Result(value, _) = &of
        && matches!(**value, Type::Result(..))
    {
        return Err(syn::Error::new(written.span(), "a Result can't contain a Result: combine their errors"));
    }
    Ok(of)
}

fn has_views(of: &Type) -> bool {
    match of {
        Type::Unit | Type::Bool | Type::Scalar(_) | Type::Record(_) => false,
        Type::Str { owner } => *owner == MemoryOwner::Caller,
        Type::List { of, owner } => *owner == MemoryOwner::Caller || has_views(of),
        Type::Option(of) => has_views(of),
        Type::Map { key, value } | Type::Result(key, value) => has_views(key) || has_views(value),
    }
}

fn callee(attributes: &[Attribute]) -> Option<Callee> {
    attributes.iter().find_map(|attribute| {
        let segments: Vec<String> =
            attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
        match segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["eddy_bridge", "go"] => Some(Callee::Go),
            ["eddy_bridge", "rust"] => Some(Callee::Rust),
            _ => None,
        }
    })
}

fn derives_record(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let mut found = false;
        let parsed = attribute.parse_nested_meta(|meta| {
            found |= meta.path.segments.last().is_some_and(|last| last.ident == "Record");
            Ok(())
        });
        parsed.is_ok() && found
    })
}

/// Returns the lines of doc comments.
pub(crate) fn docs(attributes: &[Attribute]) -> Vec<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect()
}

/// Errors found so far.
#[derive(Default)]
struct Problems(Option<syn::Error>);

impl Problems {
    fn add(&mut self, at: &impl Spanned, message: &str) {
        self.add_error(syn::Error::new(at.span(), message));
    }

    fn add_error(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add_error(error)).ok()
    }

    fn into_result<T>(self, value: T) -> syn::Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

/// Tuples of at most this many elements have layouts.
const ARGUMENTS_MAX: usize = 8;

/// Returns the CamelCase name of a method's Rust struct, and of Go identifiers.
pub(crate) fn camel(name: &Ident) -> String {
    let name = name.to_string();
    let words = name.trim_start_matches("r#").split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}
