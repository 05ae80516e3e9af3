//! Spellings of values: eddy accepts those that the real Envoy accepts, and no others.

use anyhow::{Result, ensure};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD};
use eddy_dialects::check;
use eddy_e2e::peer::{Envoy, bootstrap};
use eddy_e2e::secure::Authority;
use eddy_spec::problem::{Severity, SourceText};
use serde_json::{Value, json};

/// Checks that both programs accept a configuration, or both refuse it.
fn agree(what: &str, config: &Value, is_taken: bool) -> Result<()> {
    let text = config.to_string();
    let ours = match check(&[SourceText::new("envoy.json", &text)]) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    };
    let errors: Vec<_> = ours.iter().filter(|problem| problem.severity == Severity::Error).collect();
    // Each error is reported once, and nothing else is reported.
    ensure!(errors.len() == usize::from(!is_taken), "{what}: eddy says {errors:?}");
    if let Some(program) = Envoy::find()? {
        let refusal = Envoy::refusal(&program, &text)?;
        ensure!(refusal.is_none() == is_taken, "{what}: Envoy says {refusal:?}");
    }
    Ok(())
}

/// Returns a configuration with one route and one cluster.
fn site() -> Value {
    let routes = json!({"name": "site", "virtual_hosts": [
        {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "one"}}]}
    ]});
    serde_json::from_str(&bootstrap(&routes, &json!({}), &["one"])).expect("what was just written")
}

#[test]
fn enumerations_are_written_as_envoy_reads_them() -> Result<()> {
    for (text, is_taken) in [
        (json!("ROUND_ROBIN"), true),
        (json!("round_robin"), true),
        (json!("Round_Robin"), true),
        (json!(1), true),
        (json!("1"), true),
        (json!("round-robin"), false),
        (json!("roundRobin"), false),
        (json!(" random"), false),
        (json!("1.0"), false),
        (json!(99), false),
    ] {
        let mut config = site();
        config["static_resources"]["clusters"][0]["lb_policy"] = text.clone();
        agree(&text.to_string(), &config, is_taken)?;
    }
    Ok(())
}

#[test]
fn certificates_are_written_as_envoy_reads_them() -> Result<()> {
    let issued = Authority::new("us")?.issue(&["a.test"])?;
    let (chain, key) = (issued.chain.as_bytes(), issued.key.as_bytes());
    let lines = BASE64
        .encode(chain)
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect::<Vec<_>>()
        .join("\n");
    let plain = json!({"inline_string": issued.key});
    for (what, chain, key, is_taken) in [
        ("texts", json!({"inline_string": issued.chain}), plain.clone(), true),
        (
            "Base64",
            json!({"inline_bytes": BASE64.encode(chain)}),
            json!({"inlineBytes": BASE64.encode(key)}),
            true,
        ),
        ("without padding", json!({"inline_bytes": BASE64_NOPAD.encode(chain)}), plain.clone(), true),
        ("the other alphabet", json!({"inline_bytes": BASE64URL_NOPAD.encode(chain)}), plain.clone(), true),
        ("in lines", json!({"inline_bytes": lines}), plain.clone(), false),
        ("no Base64", json!({"inline_bytes": "!!"}), plain.clone(), false),
        ("two at once", json!({"inline_bytes": "", "inline_string": issued.chain}), plain.clone(), false),
        ("empty", json!({"inline_string": issued.chain}), json!({"inline_string": ""}), false),
        ("no key", json!({"inline_string": issued.chain}), json!({}), false),
    ] {
        let mut config = site();
        config["static_resources"]["listeners"][0]["filter_chains"][0]["transport_socket"] = json!({
            "name": "tls",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
                "common_tls_context": {"tls_certificates": [{"certificate_chain": chain, "private_key": key}]}
            }
        });
        agree(what, &config, is_taken)?;
    }
    Ok(())
}
