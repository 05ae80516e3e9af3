//! Documentation generated from the declarations of the file format: a JSON Schema for editors and a reference page.

mod json;
mod page;
mod schema;
mod text;

pub use page::reference_page;
pub use schema::schema;

#[cfg(test)]
mod tests;
