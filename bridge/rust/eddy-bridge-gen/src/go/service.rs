//! Generates a Go service: an interface and its registration, or a caller.

use super::codec::{Codecs, WordIndex};
use super::frame::GoCallFrame;
use super::names::{exported, local, of_type};
use super::text::comment;
use crate::declaration::{
    Callee, CallingConvention, FieldDeclaration, Measures, MethodDeclaration, ServiceDeclaration,
};
use crate::types::{MemoryOwner, Type};

/// Returns the complete Go code of a service.
pub(super) fn text(service: &ServiceDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    match service.callee {
        Callee::Go => format!("{}\n{}", interface(service), registration(service, measures, codecs)),
        Callee::Rust => caller(service, measures, codecs),
    }
}

fn interface(service: &ServiceDeclaration) -> String {
    let name = service.name.to_string();
    let mut text = comment(&service.docs, &name, "");
    text.push_str(&format!("type {name} interface {{\n"));
    for method in &service.methods {
        let exported = exported(&method.name);
        let answers = match &method.answer {
            Type::Unit => String::new(),
            Type::Result(value, error) => {
                let error = match &**error {
                    Type::Str { .. } => "error".to_owned(),
                    other => format!("*{}", of_type(other)),
                };
                if **value == Type::Unit {
                    format!(" {error}")
                } else {
                    format!(" ({}, {error})", of_type(value))
                }
            }
            other => format!(" {}", of_type(other)),
        };
        let parameters = parameters(method, |of| of.clone());
        text.push_str(&comment(&method.docs, &exported, "\t"));
        text.push_str(&format!("\t{exported}({parameters}){answers}\n"));
    }
    text.push_str("}\n");
    text
}

/// Returns names and types of a method's arguments.
fn parameters(method: &MethodDeclaration, passed: impl Fn(&Type) -> Type) -> String {
    let context = (method.manner == CallingConvention::Async).then(|| "ctx context.Context".to_owned());
    let arguments = method.arguments.iter().map(|argument| {
        let pointer = if argument.is_lent { "*" } else { "" };
        format!("{} {pointer}{}", local(&argument.name), of_type(&passed(&argument.of)))
    });
    context.into_iter().chain(arguments).collect::<Vec<_>>().join(", ")
}

fn registration(service: &ServiceDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    let name = service.name.to_string();
    let shape = measures.shape_of_service(service);
    let mut text = format!(
        "// Register{name} registers the implementation of {name} that Rust calls. Call it in an init function. A service\n\
         // has one implementation, which any number of threads call concurrently.\n\
         func Register{name}(implementation {name}) {{\n\tbridge.Register(\"{name}\", {shape:#x}, []bridge.Method{{\n"
    );
    for method in &service.methods {
        text.push_str(&serving(method, measures, codecs));
    }
    text.push_str("\t})\n}\n");
    text
}

/// Returns a function that reads the arguments, calls the implementation and writes the result.
fn serving(method: &MethodDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    let is_async = method.manner == CallingConvention::Async;
    let mut arguments: Vec<String> = is_async.then(|| "ctx".to_owned()).into_iter().collect();
    let mut offset = 0;
    for argument in &method.arguments {
        arguments.push(codecs.argument(argument, WordIndex("", offset)));
        offset += measures.words(&argument.of);
    }
    let call = format!("implementation.{}({})", exported(&method.name), arguments.join(", "));
    let reply = format!(
        "\t\t\tvar out bridge.Out\n\t\t\tout.Words = bridge.Room(room, {})\n",
        measures.words(&method.answer)
    );
    let answer = if method.answer == Type::Unit { "room" } else { "out.Words" };
    let body = match &method.answer {
        Type::Unit => format!("\t\t\t{call}\n"),
        Type::Result(value, error) => {
            let write_error = match &**error {
                Type::Str { .. } => format!("out.String({}, err.Error())", 1 + measures.words(value)),
                other => codecs.write(other, "&out", WordIndex("", 1 + measures.words(value)), "*err"),
            };
            let (left, otherwise) = if **value == Type::Unit {
                ("err", String::new())
            } else {
                (
                    "answer, err",
                    format!("\t\t\t{}\n", codecs.write(value, "&out", WordIndex("", 1), "answer")),
                )
            };
            format!(
                "\t\t\t{left} := {call}\n{reply}\t\t\tif err != nil {{\n\t\t\t\tout.Bool(0, true)\n\t\t\t\t{write_error}\n\t\t\t\treturn out.Words\n\t\t\t}}\n{otherwise}"
            )
        }
        other => {
            let write = codecs.write(other, "&out", WordIndex("", 0), "answer");
            format!("\t\t\tanswer := {call}\n{reply}\t\t\t{write}\n")
        }
    };
    let context = if is_async { "ctx" } else { "_" };
    let read = if method.arguments.is_empty() { "_" } else { "in" };
    let flag = if is_async { "Async: true, " } else { "" };
    format!(
        "\t\t{{{flag}Serve: func({context} bridge.Context, {read} bridge.In, room []uint64) []uint64 {{\n{body}\t\t\treturn {answer}\n\t\t}}}},\n"
    )
}

fn caller(service: &ServiceDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    let name = service.name.to_string();
    let shape = measures.shape_of_service(service);
    let mut text = comment(&service.docs, &name, "");
    if !service.docs.is_empty() {
        text.push_str("//\n");
    }
    text.push_str(&format!(
        "// The implementation is in Rust. Any goroutine may use it.\n\
         type {name} struct {{\n\tservice *bridge.Service\n}}\n\n\
         // Bind{name} binds the implementation that Rust offers.\n\
         func Bind{name}(from bridge.Binder) ({name}, error) {{\n\
         \tservice, err := from.Bind(\"{name}\", {shape:#x})\n\
         \treturn {name}{{service}}, err\n}}\n"
    ));
    for (number, method) in service.methods.iter().enumerate() {
        text.push('\n');
        text.push_str(&calling(&name, method, number, measures, codecs));
    }
    text
}

fn calling(
    service: &str,
    method: &MethodDeclaration,
    number: usize,
    measures: &Measures,
    codecs: &mut Codecs<'_>,
) -> String {
    let exported = exported(&method.name);
    let mut text = comment(&method.docs, &exported, "");
    let answers = match method.value() {
        Type::Unit => "(err error)".to_owned(),
        value => format!("(answer {}, err error)", of_type(value)),
    };
    let parameters = parameters(method, passed);
    text.push_str(&format!("func (s {service}) {exported}({parameters}) {answers} {{\n"));
    if let Some(frame) = GoCallFrame::of(method, measures, codecs.layout()) {
        let parts = local_of(service, &exported);
        text.push_str(&frame.call(number, &parts));
        if measures.words(&method.answer) == 0 {
            text.push_str("}\n");
        } else {
            text.push_str(&answered(method, measures, codecs));
        }
        if let Some(parts) = frame.parts(&parts) {
            text.push_str(&format!("\n{parts}"));
        }
        return text;
    }
    let begin = if method.manner == CallingConvention::Async { "BeginAsync" } else { "Begin" };
    text.push_str(&format!("\tcall := s.service.{begin}({number})\n\tdefer call.End(&err)\n"));
    let words: usize = method.arguments.iter().map(|argument| measures.words(&argument.of)).sum();
    if words != 0 {
        text.push_str(&format!("\tout := &call.Out\n\tout.Record({words})\n"));
    }
    let mut offset = 0;
    for argument in &method.arguments {
        let write = codecs.write(&passed(&argument.of), "out", WordIndex("", offset), &expression(argument));
        text.push_str(&format!("\t{write}\n"));
        offset += measures.words(&argument.of);
    }
    text.push_str(&end(method, measures, codecs));
    text
}

/// Returns the name of the description of a method's frame.
fn local_of(service: &str, method: &str) -> String {
    let (first, rest) = service.split_at(1);
    format!("{}{rest}{method}Parts", first.to_lowercase())
}

fn end(method: &MethodDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    let words = measures.words(&method.answer);
    let call = match method.manner {
        CallingConvention::Short => format!("call.DoShort({words})"),
        CallingConvention::Waited => format!("call.Do({words})"),
        CallingConvention::Async => format!("call.Wait(ctx, {words})"),
    };
    if words == 0 {
        return format!("\t_, err = {call}\n\treturn err\n}}\n");
    }
    let answer = before_error(method);
    let answered = answered(method, measures, codecs);
    format!("\tin, err := {call}\n\tif err != nil {{\n\t\treturn {answer}err\n\t}}\n{answered}")
}

/// Returns statements that read the result and return it.
fn answered(method: &MethodDeclaration, measures: &Measures, codecs: &mut Codecs<'_>) -> String {
    let answer = before_error(method);
    let mut text = String::new();
    let at = match &method.answer {
        Type::Result(value, error) => {
            let read = codecs.read(error, WordIndex("", 1 + measures.words(value)));
            text.push_str(&format!(
                "\tif in.Bool(0) {{\n\t\treturn {answer}&bridge.SaidError[{}]{{Value: {read}}}\n\t}}\n",
                of_type(error)
            ));
            1
        }
        _ => 0,
    };
    match method.value() {
        Type::Unit => text.push_str("\treturn nil\n}\n"),
        value => text.push_str(&format!("\treturn {}, nil\n}}\n", codecs.read(value, WordIndex("", at)))),
    }
    text
}

/// Returns the results that precede the error.
pub(super) fn before_error(method: &MethodDeclaration) -> &'static str {
    if *method.value() == Type::Unit { "" } else { "answer, " }
}

/// Returns an argument of the caller as a value.
pub(super) fn expression(argument: &FieldDeclaration) -> String {
    let name = local(&argument.name);
    if argument.is_lent { format!("*{name}") } else { name }
}

/// Returns an argument type as Go passes it: a view for the callee is owned by Go.
pub(super) fn passed(of: &Type) -> Type {
    match of {
        Type::Str { .. } => Type::Str { owner: MemoryOwner::Own },
        Type::List { of, .. } => Type::List { of: Box::new(passed(of)), owner: MemoryOwner::Own },
        Type::Map { key, value } => Type::Map { key: Box::new(passed(key)), value: Box::new(passed(value)) },
        Type::Option(value) => Type::Option(Box::new(passed(value))),
        Type::Result(value, error) => Type::Result(Box::new(passed(value)), Box::new(passed(error))),
        Type::Unit | Type::Bool | Type::Scalar(_) | Type::Record(_) => of.clone(),
    }
}

/// Whether reading the type can fail.
pub(super) fn has_lists(of: &Type) -> bool {
    match of {
        Type::Unit | Type::Bool | Type::Scalar(_) => false,
        Type::Option(value) => has_lists(value),
        Type::Result(value, error) => has_lists(value) || has_lists(error),
        Type::Str { .. } | Type::List { .. } | Type::Map { .. } | Type::Record(_) => true,
    }
}
