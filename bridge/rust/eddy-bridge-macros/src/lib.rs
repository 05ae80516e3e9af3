//! The attribute macros of `eddy-bridge`, which exports them.

#![forbid(unsafe_code)]

use eddy_bridge_gen::{Callee, rust};
use proc_macro::TokenStream;

/// Turns a trait that Go implements into a caller: a struct of the trait's name with its methods.
///
/// A method that returns `T` returns `Result<T, BridgeError>`, one that returns `Result<T, E>` returns
/// `Result<T, MethodError<E>>`. An `async fn` awaits a goroutine, whose context ends when the future is dropped.
#[proc_macro_attribute]
pub fn go(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(&arguments, item, Callee::Go)
}

/// Keeps a trait that Rust implements and Go calls, and generates `serve_NAME`, which turns an implementation into a
/// service for `eddy_bridge::offer`.
///
/// A method with `#[short]` is called through assembly: it must always take less than a microsecond, and neither
/// block nor call into Go. An `async fn` runs on the executor of the program.
#[proc_macro_attribute]
pub fn rust(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(&arguments, item, Callee::Rust)
}

/// Derives the traits by which a struct can cross the bridge.
#[proc_macro_derive(Record)]
pub fn record(item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(|item: syn::ItemStruct| rust::record(&item));
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(arguments: &TokenStream, item: TokenStream, callee: Callee) -> TokenStream {
    if !arguments.is_empty() {
        let error = syn::Error::new(proc_macro2::Span::call_site(), "the attribute takes no arguments");
        return error.to_compile_error().into();
    }
    let made = syn::parse(item).and_then(|item: syn::ItemTrait| rust::service(&item, callee));
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}
