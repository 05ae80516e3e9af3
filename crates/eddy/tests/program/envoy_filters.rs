//! Filters for several versions of Envoy in one library.

use std::fs;
use std::path::Path;

use crate::projects::{ProjectFolder, config_of, has_go};

/// A filter for Envoy that passes everything on, with more declarations and imports.
fn envoy_filter(place: &ProjectFolder, name: &str, requires: &str, imports: &str, more: &str) {
    let source = "github.com/envoyproxy/envoy/contrib/golang";
    place.write(
        &format!("{name}/go.mod"),
        &format!("module example.com/{name}\n\ngo 1.19\n\nrequire (\n{requires})\n"),
    );
    place.write(
        &format!("{name}/filter.go"),
        &format!(
            "package main\n\nimport (\n\t\"{source}/filters/http/source/go/pkg/http\"\n{imports})\n\nfunc main() {{}}\n\n{more}"
        ),
    );
}

/// Registrations with the API of Envoy's Go filter before 1.26, of 1.26 to 1.30 and since 1.31.
const OF_SNAPSHOT: &str = "\
type parser struct{}

func (parser) Parse(*anypb.Any) interface{} { return nil }

func (parser) Merge(_, child interface{}) interface{} { return child }

func factory(interface{}) api.StreamFilterFactory {
	return func(api.FilterCallbackHandler) api.StreamFilter { return pass{} }
}

type pass struct{}

func (pass) DecodeHeaders(api.RequestHeaderMap, bool) api.StatusType { return api.Continue }
func (pass) DecodeData(api.BufferInstance, bool) api.StatusType { return api.Continue }
func (pass) DecodeTrailers(api.RequestTrailerMap) api.StatusType { return api.Continue }
func (pass) EncodeHeaders(api.ResponseHeaderMap, bool) api.StatusType { return api.Continue }
func (pass) EncodeData(api.BufferInstance, bool) api.StatusType { return api.Continue }
func (pass) EncodeTrailers(api.ResponseTrailerMap) api.StatusType { return api.Continue }
func (pass) OnDestroy(api.DestroyReason) {}

func init() {
	http.RegisterHttpFilterConfigFactory(\"snapshot\", factory)
	http.RegisterHttpFilterConfigParser(parser{})
}
";
const OF_1_26: &str = "\
var _ = status.Status{}

func init() { http.RegisterHttpFilterConfigFactoryAndParser(\"old\", http.PassThroughFactory, http.NullParser) }
";
const OF_1_31: &str = "\
var _ = status.Status{}

// own has a method that the callbacks have in later versions of Envoy.
type own struct{}

func (own) AddData(data []byte, isStreaming bool) {}
func (own) InjectData(data []byte) {}

type both struct {
	api.DecoderFilterCallbacks
	own
}

var _ interface{ InjectData([]byte) } = both{}
var _ = both.AddData

func init() { http.RegisterHttpFilterFactoryAndConfigParser(\"new\", http.PassThroughFactory, http.NullParser) }
";

#[test]
fn filters_for_several_versions_of_envoy_and_its_dependencies_become_one_library() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    let api = |path| format!("\t\"github.com/envoyproxy/envoy/contrib/golang/{path}/api\"\n");
    // The API was a module of its own.
    envoy_filter(
        &place,
        "snapshot",
        "\tgithub.com/envoyproxy/envoy/contrib/golang/filters/http/source/go v0.0.0-20230218013313-14111e3c62d3\n\tgoogle.golang.org/protobuf v1.28.1\n",
        &(api("filters/http/source/go/pkg") + "\t\"google.golang.org/protobuf/types/known/anypb\"\n"),
        OF_SNAPSHOT,
    );
    // Before genproto was split, and with a golang/protobuf that uses what later versions of protobuf lack.
    envoy_filter(
        &place,
        "old",
        "\tgithub.com/envoyproxy/envoy v1.26.1\n\tgithub.com/golang/protobuf v1.5.3\n\tgoogle.golang.org/genproto v0.0.0-20190819201941-24fa4b261c55\n",
        "\t_ \"github.com/golang/protobuf/protoc-gen-go/descriptor\"\n\t\"google.golang.org/genproto/googleapis/rpc/status\"\n",
        OF_1_26,
    );
    envoy_filter(
        &place,
        "new",
        "\tgithub.com/envoyproxy/envoy v1.31.0\n\tgoogle.golang.org/genproto/googleapis/rpc v0.0.0-20240227224415-6ceb2ff114de\n",
        &(api("common/go") + "\t\"google.golang.org/genproto/googleapis/rpc/status\"\n"),
        OF_1_31,
    );
    let names = ["snapshot", "old", "new"];
    place.write("eddy.yaml", &config_of(&names.map(|name| (name, name))));
    // Not only modules of the SDKs are needed.
    let proxy = std::env::var_os("GOPROXY").unwrap_or_else(|| "https://proxy.golang.org,direct".into());
    let proxy: (&str, &Path) = ("GOPROXY", Path::new(&proxy));
    let checked = place.eddy_with(&["check", "eddy.yaml"], ".", &[proxy]);
    let is_unreachable = ["Go must fetch a module", "Forbidden", "Not Found", "no such host"]
        .iter()
        .any(|error| checked.errors.contains(error));
    if checked.code != Some(0) && is_unreachable {
        let missing = "the modules of filters for several versions of Envoy cannot be fetched";
        return test_peers::skip(missing, "make test where the Go module proxy is within reach").unwrap();
    }
    checked.all(0);
    let built = place.eddy_with(&["filter", "build", "eddy.yaml", "--json"], ".", &[proxy]).json(0);
    assert_eq!(
        (&built["is_fresh"], built["packages"].as_array().unwrap().len()),
        (&false.into(), 3),
        "{built}"
    );
    // The body hooks of the oldest would see the data of tunnels in Envoy.
    let config = fs::read_to_string(place.directory.join("eddy.yaml")).unwrap();
    let with_upgrades = config.replace("demo: true", "routes: site, filters: [snapshot]");
    let with_upgrades = with_upgrades
        + "routes: {site: [{match: {path: /}, cluster: a, upgrades: [websocket]}]}\nclusters: {a: {endpoints: ['127.0.0.1:9']}}\n";
    place.write("tunnels.yaml", &with_upgrades);
    let refused = place.eddy_with(&["check", "tunnels.yaml"], ".", &[proxy]).all(1);
    assert!(refused.contains("allows upgrades (`websocket`)") && refused.contains("@tunnels"), "{refused}");
    let accepted = "package: 'snapshot'}\n    config: {\"@tunnels\": unseen}";
    place.replace("tunnels.yaml", "package: 'snapshot'}", accepted);
    place.eddy_with(&["check", "tunnels.yaml"], ".", &[proxy]).all(0);
    place.replace("tunnels.yaml", accepted, "package: 'snapshot'}");
    place.replace("tunnels.yaml", "upgrades: [websocket]", "upgrades: []");
    place.eddy_with(&["check", "tunnels.yaml"], ".", &[proxy]).all(0);
    // A filter that calls the method of a later version needs that version in its go.mod.
    place.replace("new/filter.go", "\town\n}", "}");
    let wrong = place.eddy_with(&["check", "eddy.yaml"], ".", &[proxy]).all(1);
    assert!(wrong.contains("new/filter.go") && wrong.contains("AddData"), "{wrong}");
    place.replace("new/go.mod", "envoy v1.31.0", "envoy v1.36.2");
    place.eddy_with(&["check", "eddy.yaml"], ".", &[proxy]).all(0);
}
