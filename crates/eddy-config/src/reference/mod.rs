//! What the declarations of the file format are published as: a JSON Schema for editors and a page for people.

mod json;
mod page;
mod schema;
mod text;

pub use page::reference_page;
pub use schema::schema;

#[cfg(test)]
mod tests;
