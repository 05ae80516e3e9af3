//! A gateway with all failing filters side by side, and two working ones.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{MODULES, SCRIPTS, module_in_head, script};
use crate::gateway::{Launch, TestGateway};
use crate::origin::TapOrigin;
use crate::place::TempDir;
use crate::site::GatewayConfigBuilder;
use crate::wasm;

/// A filter that fails when a request below its path has `x-evil`.
#[derive(Clone, Debug)]
pub struct EvilFilter {
    /// Description of the failure, and where it occurs.
    pub told: String,
    /// Filter name in the configuration; its path is `/NAME/`.
    pub name: String,
    /// Status of the exchange in which it fails.
    pub status: u16,
    /// Whether it needs a new instance after a failure, for which requests may have to wait.
    pub is_awaited: bool,
}

/// The gateway, its filters, and the folder of their modules.
#[derive(Debug)]
pub struct EvilSite {
    /// The gateway, with one worker.
    pub gateway: TestGateway,
    /// Failing filters.
    pub filters: Vec<EvilFilter>,
    _folder: TempDir,
}

impl EvilSite {
    /// Starts the gateway; `cpu_ms` is the CPU time limit of each filter call.
    ///
    /// Requests under `/free/` pass only a script and a module that mark their responses with `x-script` and
    /// `x-module`.
    ///
    /// # Errors
    /// When the gateway does not start.
    pub async fn start(cpu_ms: u32) -> Result<Self> {
        let folder = TempDir::new("evil")?;
        let mut site = EvilFilterConfig::default();
        site.define_correct_filters(&folder)?;
        for (index, (told, code)) in SCRIPTS.iter().enumerate() {
            let source = script(code).replace('\n', "\n        ");
            let keys =
                format!("lua:\n      memory: 4MiB\n      cpu: {cpu_ms}ms\n      source: |\n        {source}");
            site.define(&format!("script-{index}"), told, &keys, 500, false)?;
        }
        for (index, (told, code, status)) in MODULES.iter().enumerate() {
            let path = folder.join(&format!("{index}.wasm"));
            std::fs::write(&path, wasm::module(&module_in_head(code))?)?;
            for isolation in ["worker", "stream"] {
                let keys = format!(
                    "wasm: {{module: '{}', isolation: {isolation}, memory: 4MiB, cpu: {cpu_ms}ms}}",
                    path.display()
                );
                let is_awaited = isolation == "worker" && *status == 500;
                let told = format!("{told}, isolation {isolation}");
                site.define(&format!("{isolation}-{index}"), &told, &keys, *status, is_awaited)?;
            }
        }
        let origin = TapOrigin::start().await?;
        let gateway = site.site().launch(&origin, patient()).await.context("the gateway with every fault")?;
        Ok(Self { gateway, filters: site.evil, _folder: folder })
    }
}

/// Filters, and their configuration text.
#[derive(Debug, Default)]
struct EvilFilterConfig {
    text: String,
    evil: Vec<EvilFilter>,
}

impl EvilFilterConfig {
    fn define_correct_filters(&mut self, folder: &TempDir) -> Result<()> {
        let mark = r#"(func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
            (drop (call $replace (i32.const 2) `x-module` `ok`)) (i32.const 0))"#;
        let path = folder.join("good.wasm");
        std::fs::write(&path, wasm::module(mark)?)?;
        let source = script("").replace('\n', "\n        ");
        write!(
            self.text,
            "  good-script:\n    lua:\n      source: |\n        {source}\n  good-module: {{wasm: {{module: '{}'}}}}\n",
            path.display()
        )?;
        Ok(())
    }

    fn define(&mut self, name: &str, told: &str, keys: &str, status: u16, is_awaited: bool) -> Result<()> {
        write!(self.text, "  {name}:\n    disabled: true\n    {keys}\n")?;
        self.evil.push(EvilFilter { told: told.to_owned(), name: name.to_owned(), status, is_awaited });
        Ok(())
    }

    /// Returns a site with a rule for each failing filter and one for all other requests.
    fn site(&self) -> GatewayConfigBuilder {
        let names: Vec<&str> = self.evil.iter().map(|filter| filter.name.as_str()).collect();
        let mut site = GatewayConfigBuilder::new()
            .top(&format!("filters:\n{}", self.text))
            .listener(&format!("filters: [good-script, good-module, {}]", names.join(", ")))
            .without_default_rule();
        for name in names {
            site = site.rule(&format!(
                "{{match: {{path: /{name}/}}, respond: {{status: 200}}, filters: {{{name}: {{disabled: false}}}}}}"
            ));
        }
        site.rule("{respond: {status: 200, body: ok}}")
    }
}

/// Allows more time to start, because many modules must be compiled.
fn patient() -> Launch {
    Launch { ready_within: Some(Duration::from_secs(60)), ..Launch::default() }
}
