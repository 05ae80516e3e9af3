//! Parsed declarations.

use std::collections::BTreeMap;

use eddy_bridge_shape::{shape_of_field, shape_of_method, shape_of_name};
use syn::Ident;

use crate::types::Type;

/// All declarations of a file.
#[derive(Debug, Default)]
pub(crate) struct Declaration {
    pub(crate) services: Vec<ServiceDeclaration>,
    /// Structs in the order of the file.
    pub(crate) records: Vec<RecordDeclaration>,
}

/// The side that implements a trait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// Implemented in Go, called by Rust.
    Go,
    /// Implemented in Rust, called by Go.
    Rust,
}

/// A service, declared as a trait.
#[derive(Debug)]
pub(crate) struct ServiceDeclaration {
    pub(crate) name: Ident,
    pub(crate) callee: Callee,
    pub(crate) docs: Vec<String>,
    pub(crate) methods: Vec<MethodDeclaration>,
}

/// A method of a service.
#[derive(Debug)]
pub(crate) struct MethodDeclaration {
    pub(crate) name: Ident,
    pub(crate) docs: Vec<String>,
    pub(crate) manner: CallingConvention,
    pub(crate) arguments: Vec<FieldDeclaration>,
    pub(crate) answer: Type,
}

/// Calling convention of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallingConvention {
    /// Blocks the caller.
    Waited,
    /// Blocks the caller for less than a microsecond.
    Short,
    /// Asynchronous.
    Async,
}

/// A record, declared as a struct.
#[derive(Debug)]
pub(crate) struct RecordDeclaration {
    pub(crate) name: Ident,
    pub(crate) docs: Vec<String>,
    pub(crate) fields: Vec<FieldDeclaration>,
}

/// A field of a struct, or an argument of a method.
#[derive(Debug)]
pub(crate) struct FieldDeclaration {
    pub(crate) name: Ident,
    pub(crate) docs: Vec<String>,
    pub(crate) of: Type,
    /// Whether the argument is a struct of the caller's, passed to Go by pointer.
    pub(crate) is_lent: bool,
}

/// Number of words of each struct, and its shape.
#[derive(Debug, Default)]
pub(crate) struct Measures(BTreeMap<String, Measure>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) words: usize,
    pub(crate) shape: u64,
}

impl Measures {
    /// Computes the size and the shape of every struct of a declaration.
    ///
    /// # Errors
    ///
    /// A struct that is not declared, or that contains itself.
    pub(crate) fn of(declaration: &Declaration) -> syn::Result<Self> {
        let mut measures = Self::default();
        for record in &declaration.records {
            measures.measure_record(declaration, record, &mut Vec::new())?;
        }
        for service in &declaration.services {
            for method in &service.methods {
                let types = method.arguments.iter().map(|argument| &argument.of).chain([&method.answer]);
                for name in types.flat_map(Type::records) {
                    find(declaration, name)?;
                }
            }
        }
        Ok(measures)
    }

    fn measure_record(
        &mut self,
        declaration: &Declaration,
        record: &RecordDeclaration,
        outer: &mut Vec<Ident>,
    ) -> syn::Result<()> {
        if self.0.contains_key(&record.name.to_string()) {
            return Ok(());
        }
        outer.push(record.name.clone());
        for field in &record.fields {
            for name in field.of.records() {
                if outer.contains(name) {
                    let message = format!("`{name}` contains itself: its size would be infinite");
                    return Err(syn::Error::new(name.span(), message));
                }
                self.measure_record(declaration, find(declaration, name)?, outer)?;
            }
        }
        outer.pop();
        let words = record.fields.iter().map(|field| self.words(&field.of)).sum();
        let shape = record.fields.iter().fold(shape_of_name("record"), |shape, field| {
            shape_of_field(shape, &field.name.to_string(), self.shape(&field.of))
        });
        self.0.insert(record.name.to_string(), Measure { words, shape });
        Ok(())
    }

    /// Returns the number of words of a type.
    pub(crate) fn words(&self, of: &Type) -> usize {
        match of {
            Type::Unit => 0,
            Type::Bool | Type::Scalar(_) => 1,
            Type::Str { .. } | Type::List { .. } | Type::Map { .. } => 2,
            Type::Option(value) => 1 + self.words(value),
            Type::Result(value, error) => 1 + self.words(value) + self.words(error),
            Type::Record(name) => self.0[&name.to_string()].words,
        }
    }

    /// Returns the shape of a type, as `Wire::SHAPE`.
    pub(crate) fn shape(&self, of: &Type) -> u64 {
        match of {
            Type::Unit => shape_of_name("tuple"),
            Type::Bool => shape_of_name("bool"),
            Type::Scalar(scalar) => shape_of_name(scalar.rust),
            Type::Str { .. } => shape_of_name("str"),
            Type::List { of, .. } => self.nested("list", &[of]),
            Type::Map { key, value } => self.nested("map", &[key, value]),
            Type::Option(value) => self.nested("option", &[value]),
            Type::Result(value, error) => self.nested("result", &[value, error]),
            Type::Record(name) => self.0[&name.to_string()].shape,
        }
    }

    fn nested(&self, name: &str, parts: &[&Type]) -> u64 {
        parts.iter().fold(shape_of_name(name), |shape, part| shape_of_field(shape, "", self.shape(part)))
    }

    /// Returns the shape of a service, as the runtime computes it.
    pub(crate) fn shape_of_service(&self, service: &ServiceDeclaration) -> u64 {
        service.methods.iter().fold(shape_of_name(&service.name.to_string()), |shape, method| {
            let arguments: Vec<&Type> = method.arguments.iter().map(|argument| &argument.of).collect();
            let arguments = self.nested("tuple", &arguments);
            shape_of_method(shape, &method.full_name(), arguments, self.shape(&method.answer))
        })
    }
}

impl MethodDeclaration {
    /// Returns the type of the result on success.
    pub(crate) fn value(&self) -> &Type {
        match &self.answer {
            Type::Result(value, _) => value,
            other => other,
        }
    }

    /// Returns the name together with the properties that both sides must agree on.
    pub(crate) fn full_name(&self) -> String {
        match self.manner {
            CallingConvention::Waited => self.name.to_string(),
            CallingConvention::Short => format!("short {}", self.name),
            CallingConvention::Async => format!("async {}", self.name),
        }
    }
}

fn find<'d>(declaration: &'d Declaration, name: &Ident) -> syn::Result<&'d RecordDeclaration> {
    declaration.records.iter().find(|record| record.name == *name).ok_or_else(|| {
        let message = format!(
            "no struct `{name}` in this file: declare it here with #[derive(eddy_bridge::Record)], or use {}",
            crate::types::KNOWN
        );
        syn::Error::new(name.span(), message)
    })
}
