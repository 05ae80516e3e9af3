//! Generates the Rust side, in the place of the attributes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemStruct, ItemTrait, ReturnType, TraitItem, TraitItemFn, Visibility};

use crate::declaration::{Callee, CallingConvention, MethodDeclaration, ServiceDeclaration};
use crate::parse;
use crate::types::Type;

/// Returns the code that replaces a trait with an attribute.
///
/// # Errors
///
/// A type in it can't cross the bridge.
pub fn service(item: &ItemTrait, callee: Callee) -> syn::Result<TokenStream> {
    let service = parse::service(item, callee)?;
    let functions: Vec<&TraitItemFn> = item
        .items
        .iter()
        .filter_map(|inner| match inner {
            TraitItem::Fn(function) => Some(function),
            _ => None,
        })
        .collect();
    Ok(match callee {
        Callee::Go => caller(item, &service, &functions),
        Callee::Rust => served(item, &service, &functions),
    })
}

/// Returns the implementations for a struct with the derive.
///
/// # Errors
///
/// A type in it can't cross the bridge.
pub fn record(item: &ItemStruct) -> syn::Result<TokenStream> {
    parse::record(item)?;
    let name = &item.ident;
    let names: Vec<_> = item.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let texts: Vec<_> = names.iter().map(ToString::to_string).collect();
    let types: Vec<_> = item.fields.iter().map(|field| &field.ty).collect();
    let (generics, own, _) = item.generics.split_for_impl();
    let lifetime = item.generics.lifetimes().next().map_or_else(|| quote!('m), |of| quote!(#of));
    let for_read = if item.generics.lifetimes().next().is_some() { quote!(#generics) } else { quote!(<'m>) };
    Ok(quote! {
        impl #generics ::eddy_bridge::Wire for #name #own {
            const WORDS: usize = 0 #(+ <#types as ::eddy_bridge::Wire>::WORDS)*;
            const SHAPE: u64 = {
                let shape = ::eddy_bridge::shape_of_name("record");
                #(let shape = ::eddy_bridge::shape_of_field(shape, #texts, <#types as ::eddy_bridge::Wire>::SHAPE);)*
                shape
            };
        }

        impl #generics ::eddy_bridge::BridgeWrite for #name #own {
            #[inline(always)]
            fn write(&self, writer: &mut ::eddy_bridge::MessageWriter<'_>, at: usize) {
                let next = at;
                #(
                    ::eddy_bridge::BridgeWrite::write(&self.#names, writer, next);
                    let next = next + <#types as ::eddy_bridge::Wire>::WORDS;
                )*
                let _end = next;
            }
        }

        impl #for_read ::eddy_bridge::BridgeRead<#lifetime> for #name #own {
            #[inline]
            fn read(
                message: ::eddy_bridge::BridgeMessage<#lifetime>,
                at: usize,
            ) -> ::core::result::Result<Self, ::eddy_bridge::Malformed> {
                let next = at;
                #(
                    let #names = <#types as ::eddy_bridge::BridgeRead<#lifetime>>::read(message, next)?;
                    let next = next + <#types as ::eddy_bridge::Wire>::WORDS;
                )*
                let _end = next;
                Ok(Self { #(#names),* })
            }
        }
    })
}

/// Returns a struct with the methods of a trait, each a call into Go.
fn caller(item: &ItemTrait, service: &ServiceDeclaration, functions: &[&TraitItemFn]) -> TokenStream {
    let name = &item.ident;
    let text = name.to_string();
    let visible = &item.vis;
    let docs = docs(&item.attrs);
    let shape = shape(service, functions);
    let methods = functions
        .iter()
        .zip(&service.methods)
        .zip(0_u32..)
        .map(|((function, method), number)| calling(function, method, number, visible));
    quote! {
        #(#docs)*
        ///
        /// Calls an implementation in Go. It is cheap to clone, and any thread may use it.
        #[derive(Clone, Debug)]
        #visible struct #name {
            service: ::eddy_bridge::BoundService,
        }

        #[allow(dead_code, unreachable_pub, reason = "a program uses what it needs of it")]
        impl #name {
            /// The shape of the declaration, which both sides compare.
            pub const SHAPE: u64 = #shape;

            /// Finds the implementation that a Go library has registered.
            ///
            /// # Errors
            ///
            /// There is none, or it was generated from another declaration.
            pub fn bind(go: &::eddy_bridge::Go) -> ::core::result::Result<Self, ::eddy_bridge::BindError> {
                Ok(Self { service: go.bind(#text, Self::SHAPE)? })
            }

            /// Calls an implementation that was found elsewhere.
            pub fn with(service: ::eddy_bridge::BoundService) -> Self {
                Self { service }
            }

            #(#methods)*
        }
    }
}

fn calling(
    function: &TraitItemFn,
    method: &MethodDeclaration,
    number: u32,
    visible: &Visibility,
) -> TokenStream {
    let docs = docs(&function.attrs);
    let name = &function.sig.ident;
    let inputs = &function.sig.inputs;
    let names = method.arguments.iter().map(|argument| &argument.name);
    let written = written(&function.sig.output);
    let arguments = quote!((#(#names,)*));
    let (answer, failed) = match result_of(&function.sig.output, &method.answer) {
        Some((value, error)) => (
            quote!(::core::result::Result<#value, ::eddy_bridge::MethodError<#error>>),
            quote!(?.map_err(::eddy_bridge::MethodError::Said)),
        ),
        None => (quote!(::core::result::Result<#written, ::eddy_bridge::BridgeError>), quote!()),
    };
    if method.manner == CallingConvention::Async {
        return quote! {
            #(#docs)*
            ///
            /// The call begins at once; dropping the future cancels its context in Go.
            #visible fn #name(#inputs) -> impl ::core::future::Future<Output = #answer> + Send + use<> {
                let started = self.service.start(#number, &#arguments);
                async move { started.answer::<#written>().await #failed }
            }
        };
    }
    quote! {
        #(#docs)*
        #visible fn #name(#inputs) -> #answer {
            self.service.call::<_, #written>(#number, &#arguments) #failed
        }
    }
}

/// Returns the trait itself, and the function that makes a service from an implementation.
fn served(item: &ItemTrait, service: &ServiceDeclaration, functions: &[&TraitItemFn]) -> TokenStream {
    let name = &item.ident;
    let text = name.to_string();
    let visible = &item.vis;
    let attributes = &item.attrs;
    let supertraits = if item.supertraits.is_empty() {
        quote!(Send + Sync + 'static)
    } else {
        let supertraits = &item.supertraits;
        quote!(#supertraits + Send + Sync + 'static)
    };
    let serve = format_ident!("serve_{}", snake(&text));
    let about = format!("Creates a service for Go from an implementation of [`{name}`].");
    let shape = shape(service, functions);
    let declared = functions.iter().map(|function| declared(function));
    let kinds: Vec<_> =
        service.methods.iter().map(|method| format_ident!("{}Method", parse::camel(&method.name))).collect();
    let adds = service.methods.iter().zip(&kinds).map(|(method, kind)| match method.manner {
        CallingConvention::Async => quote!(.async_method::<#kind>()),
        CallingConvention::Waited | CallingConvention::Short => quote!(.method::<#kind>()),
    });
    let answers = functions
        .iter()
        .zip(&service.methods)
        .zip(&kinds)
        .map(|((function, method), kind)| answering(name, function, method, kind));
    quote! {
        #(#attributes)*
        #visible trait #name: #supertraits {
            #(#declared)*
        }

        #[doc = #about]
        #visible fn #serve<S: #name>(implementation: S) -> ::eddy_bridge::ServiceImplementation {
            #(
                struct #kinds;
            )*
            #(#answers)*
            ::eddy_bridge::ServiceImplementation::new(#text, #shape, implementation)
                #(#adds)*
                .ready()
        }
    }
}

/// Returns a method as declared in the trait, without our attributes.
fn declared(function: &TraitItemFn) -> TokenStream {
    let attributes = function.attrs.iter().filter(|attribute| !attribute.path().is_ident("short"));
    let mut signature = function.sig.clone();
    if signature.asyncness.take().is_some() {
        let written = written(&signature.output);
        signature.output = syn::parse_quote!(-> impl ::core::future::Future<Output = #written> + Send);
    }
    quote!(#(#attributes)* #signature;)
}

fn answering(
    name: &syn::Ident,
    function: &TraitItemFn,
    method: &MethodDeclaration,
    kind: &syn::Ident,
) -> TokenStream {
    let call = &function.sig.ident;
    let names: Vec<_> = method.arguments.iter().map(|argument| &argument.name).collect();
    let inputs: Vec<&syn::Type> = function
        .sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            syn::FnArg::Typed(input) => Some(&*input.ty),
            syn::FnArg::Receiver(_) => None,
        })
        .collect();
    let read = inputs.iter().zip(&method.arguments).map(|(written, argument)| as_read(written, &argument.of));
    let passed = inputs.iter().zip(&method.arguments).map(|(written, argument)| {
        let name = &argument.name;
        let is_lent = matches!(written, syn::Type::Reference(_)) && !argument.of.is_view();
        if is_lent { quote!(&#name) } else { quote!(#name) }
    });
    let read = quote!((#(#read,)*));
    if method.manner == CallingConvention::Async {
        return quote! {
            impl<S: #name> ::eddy_bridge::AsyncMethod<S> for #kind {
                async fn answer(
                    implementation: ::std::sync::Arc<S>,
                    request: Vec<u64>,
                ) -> ::core::result::Result<Vec<u64>, ::eddy_bridge::Malformed> {
                    let (#(#names,)*) = ::eddy_bridge::BridgeMessage::flat(&request).read::<#read>()?;
                    let answer = S::#call(&implementation, #(#passed),*).await;
                    Ok(::eddy_bridge::reply(&answer))
                }
            }
        };
    }
    quote! {
        impl<S: #name> ::eddy_bridge::ServiceMethod<S> for #kind {
            #[inline(always)]
            fn answer(
                implementation: &S,
                request: ::eddy_bridge::BridgeMessage<'_>,
                reply: &mut ::eddy_bridge::MessageWriter<'_>,
            ) -> ::core::result::Result<(), ::eddy_bridge::Malformed> {
                let (#(#names,)*) = request.read::<#read>()?;
                reply.write(&S::#call(implementation, #(#passed),*));
                Ok(())
            }
        }
    }
}

/// Returns the type that an argument is read as: views unchanged, references to other values as the values.
fn as_read(written: &syn::Type, of: &Type) -> TokenStream {
    match written {
        syn::Type::Reference(reference) if !of.is_view() => match &*reference.elem {
            syn::Type::Slice(slice) => {
                let element = &slice.elem;
                quote!(Vec<#element>)
            }
            other => quote!(#other),
        },
        other => quote!(#other),
    }
}

/// Returns the shape of a service, computed from its types.
fn shape(service: &ServiceDeclaration, functions: &[&TraitItemFn]) -> TokenStream {
    let name = service.name.to_string();
    let methods = functions.iter().zip(&service.methods).map(|(function, method)| {
        let full = method.full_name();
        let inputs = function.sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(input) => Some(&input.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let answer = written(&function.sig.output);
        quote! {
            let shape = ::eddy_bridge::shape_of_method(
                shape,
                #full,
                <(#(#inputs,)*) as ::eddy_bridge::Wire>::SHAPE,
                <#answer as ::eddy_bridge::Wire>::SHAPE,
            );
        }
    });
    quote! {{
        let shape = ::eddy_bridge::shape_of_name(#name);
        #(#methods)*
        shape
    }}
}

fn written(output: &ReturnType) -> TokenStream {
    match output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, written) => quote!(#written),
    }
}

/// Returns value and error type of a result that is a `Result`.
fn result_of<'o>(output: &'o ReturnType, answer: &Type) -> Option<(&'o syn::Type, &'o syn::Type)> {
    if !matches!(answer, Type::Result(..)) {
        return None;
    }
    let ReturnType::Type(_, written) = output else { return None };
    let syn::Type::Path(path) = &**written else { return None };
    let syn::PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    Some((types.next()?, types.next()?))
}

fn docs(attributes: &[syn::Attribute]) -> Vec<&syn::Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).collect()
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
