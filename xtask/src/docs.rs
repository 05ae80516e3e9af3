//! Pages generated from the code, so that they cannot differ from it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A page generated from the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Path of the page, relative to the root.
    pub path: String,
    /// Text of the page.
    pub text: String,
}

/// Returns every page as generated from the current code.
pub fn generated() -> Vec<Page> {
    vec![
        Page { path: "docs/reference/config.md".to_owned(), text: eddy_spec::reference::reference_page() },
        Page {
            path: "docs/reference/nginx-directives.md".to_owned(),
            text: eddy_dialects::directives_page(),
        },
        Page {
            path: "docs/reference/ingress-nginx-annotations.md".to_owned(),
            text: eddy_dialects::annotations_page(),
        },
        Page { path: "docs/reference/eddy.schema.json".to_owned(), text: eddy_spec::reference::schema() },
    ]
}

/// Writes the pages that differ and returns their paths.
///
/// # Errors
/// When a page can't be written.
pub fn write(root: &Path, pages: &[Page]) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for page in pages {
        let path = root.join(&page.path);
        if fs::read_to_string(&path).is_ok_and(|text| text == page.text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("can't make `{}`", folder.display()))?;
        }
        fs::write(&path, &page.text).with_context(|| format!("can't write `{}`", page.path))?;
        written.push(page.path.clone());
    }
    Ok(written)
}
