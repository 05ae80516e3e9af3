//! Signatures that scripts verify. Keys and signatures were created with OpenSSL; the private keys were discarded.

use crate::support::{ScriptHarness, continues_with, reason};

/// Returns the result of `verifySignature` with these arguments; `data` is the signed text.
fn verified(key: &str, hash: &str, signature: &str, data: &str) -> String {
    let play = ScriptHarness::new(&format!(
        "local function bytes(hex) return (hex:gsub('..', function(two) return string.char(tonumber(two, 16)) end)) end
         function envoy_on_request(h)
           local der, signature, data = bytes('{key}'), bytes('{signature}'), '{data}'
           local key = h:importPublicKey(der, #der)
           local is_fine, why = h:verifySignature('{hash}', key, signature, #signature, data, #data)
           h:logInfo(tostring(is_fine) .. ' ' .. why)
         end"
    ));
    assert_eq!(play.request(), continues_with(&[]));
    play.said().remove(0)
}

#[test]
fn signatures_are_verified() {
    for (key, hash, signature) in [
        (RSA, "SHA256", RSA_SHA256),
        (RSA, "sha256", RSA_SHA256),
        (RSA, "SHA1", RSA_SHA1),
        (RSA, "SHA512", RSA_SHA512),
        (EC, "SHA256", EC_SHA256),
    ] {
        assert_eq!(verified(key, hash, signature, "signed text"), "true ", "{hash}");
        assert_eq!(verified(key, hash, signature, "signed test"), "false Failed to verify digest.", "{hash}");
    }
    assert_eq!(verified(RSA, "SHA256", RSA_SHA1, "signed text"), "false Failed to verify digest.");
    assert_eq!(verified(EC, "SHA256", RSA_SHA256, "signed text"), "false Failed to verify digest.");
    assert_eq!(verified(RSA, "MD5", RSA_SHA1, "signed text"), "false MD5 is not supported.");
}

#[test]
fn a_key_is_passed_as_the_text_that_its_object_returns() {
    let play = ScriptHarness::new(&format!(
        "local function bytes(hex) return (hex:gsub('..', function(two) return string.char(tonumber(two, 16)) end)) end
         local key
         function envoy_on_request(h)
           local der, signature = bytes('{EC}'), bytes('{EC_SHA256}')
           key = h:importPublicKey(der .. 'more', #der)
           local text = key:get()
           h:logInfo(tostring(text == der))
           h:logInfo(tostring(h:verifySignature('sha256', text, signature, #signature, 'signed text', 11)))
           h:logInfo(tostring(h:importPublicKey(der, #der - 1):get()))
         end
         function envoy_on_response(h) h:logInfo(tostring(#key:get())) end"
    ));
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.response(), continues_with(&[]));
    assert_eq!(play.said(), ["true", "true", "nil", "91"]);
}

#[test]
fn invalid_keys_are_refused() {
    let play = |statement: &str| {
        let text = "local function bytes(hex) return (hex:gsub('..', function(two) return string.char(tonumber(two, 16)) end)) end\n";
        ScriptHarness::new(&format!("{text}function envoy_on_request(h) {statement} end"))
    };
    let cut = &RSA[..RSA.len() - 2];
    let verify = |key: &str| format!("h:verifySignature('SHA256', {key}, 'a', 1, 'b', 1)");
    let imported = |key: &str| verify(&format!("h:importPublicKey(bytes('{key}'), {})", key.len() / 2));
    for (statement, expected) in [
        (imported(cut), "invalid public key: not a public key: expected a SubjectPublicKeyInfo in DER"),
        (imported(""), "invalid public key: not a public key: expected a SubjectPublicKeyInfo in DER"),
        (imported(ED25519), "invalid public key: unsupported key: use RSA, or EC on curve"),
        ("h:importPublicKey('ab', 3)".to_owned(), "a length is larger than its data"),
        (verify("{}"), "invalid public key: it must come from importPublicKey()"),
        (verify("nil"), "invalid public key: it must come from importPublicKey()"),
        (verify("'text'"), "not a public key: expected a SubjectPublicKeyInfo in DER"),
    ] {
        let came = play(&statement).request();
        let why = reason(&came);
        assert!(why.starts_with("test.lua:2: ") && why.contains(expected), "{statement}: {why}");
    }
}

const RSA: &str = "\
    30820122300d06092a864886f70d01010105000382010f003082010a0282010100ce4c175399bd910529e5711ac92d38\
    0dc436fbedf51c0dcea5600f3e472f1b18314cf6998a86d63200b0d2b9900a6ca5c1a3a716dcb57fa73235af1d453188\
    606a4cf2ed6b4f0e879337040589967fd5e5b2e739b05fc413fe25524f9297e7cfd7e732895a94bffe4e1041107004a7\
    10fde1b818df37aea88c5235dcfa6d90f390a6e6c5937fe45420d4bbc7e3c6b45fe1ea240bc175bd224b3224b9c5a3fd\
    75289ea97bbf2f8e2621db33c03499ea7f3459f2279d9b8604520fee9ef03a642b241a1362003153f4718628552c515b\
    da5bec95b8447e546407398906b6be6bc7525b3932eba58c132ddc3a57b8fe255e66c8c4637652cf13fcd0d1057270bc\
    490203010001";
const RSA_SHA1: &str = "\
    33d7cbcb6e02c67d54553ab343b298ba9bfc303caf1ab7ef941843efabd335716515da354f1b7720549c649c1be93839\
    d1742c1194b505e4c00f674d28a3cf190cbd84397db4b794487f7fb13a2afd99604950fc4db9129df7280edb9b10c0a9\
    c42b41625ce8a045dd87e66bf942a43418d335e0f221d1f346173df0b013316356b88e3e53cd43f42db41f220b914363\
    07b258d656e8f0365f29aa18abeb9c4a7a2232935b2c6e97cb019c005a05938034974ca9b4086b8eca2faf792ef7ccd4\
    235f4b2d9de6e438cb5fca82e7fbbf3d4956b660c431399aac940fad46ca9b6c84ed01ad4eb669e28c806c48d3a03d3b\
    64a9dc9acade19f1f21676344e192a5f";
const RSA_SHA256: &str = "\
    0eed52088915d9670702cceb2d4d103b6e8fe119bca656bf5d86721ca3e3182fcb30d02a980bf61e3ca4bb948b9ea866\
    2898f08d92c8c3865f7e70e175de6d09689f639a0717ae301ac26436bfb166dd308cf1636725fe019c38f7967be7ad5a\
    0b12aee8ce1b06e09d89a045d33a329bebd598f196a64a58f5f4ff99ee1f00f853e22499a3e442a5a261f317a42daec1\
    d0e676ceb06a8cfc08536b3f2d965f5d9e444eb57faf1d46ed705c34a1cc0df79e58eb7d6929f1cd0048e673ca71beb9\
    f052fdbcceae652d4aa7c6552fbedb02ce8034713e929984e1d1f932a4f6bcebc92ff1e3071dfe5ee8816d675106c091\
    b40fa7b287553b20f5e161454941e059";
const RSA_SHA512: &str = "\
    cd0e430ce6fd665706a2f2529721063f98c5fcd6cda6ab6e67f531da8ae4c8825543020c9e318402febd1b0360d7ecc9\
    bf1f91eff4b367fa8e2e4a8c061f18098f85cfc40cc19313fae2e1ca51687f27b2a8e2c5b2ad63c5583cb3a724fbb888\
    d6b73ee335b3da88025adec0ece865640731a10500bedf513a25e7fc480b0cfec67cd0c0ab8732664bc9d1c82cd09b81\
    231413fa395022b15d6562481ffbfb42561a7558db749d29b9993df2103bacc71447405a978bdfabe17dd8b90517af93\
    d4fd3e6d1114339df275f346107630439a61ec8b02a45ad23c57efe1a47947773c99a5bda37a3a03129b8c102025df96\
    05add807d963bbd38ec00a9904c4a2e8";
const EC: &str = "\
    3059301306072a8648ce3d020106082a8648ce3d030107034200046c74dfe914a7182f8084a4e51bf2cda9c6edbb38c5\
    395576084aa8dced31bba232db1a143c14001364430c9077c1b073e86d7d2c993d9441a402c7ce33daa6db";
const EC_SHA256: &str = "\
    304402205cbbf360dbeb142379790c7c5ec201ca5cfc924fc73c0d04902cc9c89e379638022021e3c2159ced4e17b91d\
    65f1c054debc19aec4c030be9f3d098faf3306984273";
const ED25519: &str = "\
    302a300506032b6570032100198cc60117ea295576551c3c3d62191c115de183430a253f45f20bb742c4b562";
