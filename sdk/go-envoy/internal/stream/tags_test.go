package stream

import (
	"fmt"
	"strings"
	"testing"
)

func TestNamesOfMetrics(t *testing.T) {
	tags, err := readTags([]byte(`[
		{"tag_name": "rule-id", "regex": "(_ruleid=([0-9]+))"},
		{"tag_name": "phase", "regex": "_phase=([a-z]+)"},
		{"tag_name": "env", "fixed_value": "a;b"}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		tags []tag
		want string
	}{
		{"a.count-x", nil, "a_count_x"},
		{"2xx", nil, "_2xx"},
		{"cluster.a.b.upstream_rq_200", nil, "cluster_b_upstream_rq;envoy_cluster_name=a;envoy_response_code=200"},
		{"http.in.rq_4xx", nil, "http_rq_4xx;envoy_http_conn_manager_prefix=in"},
		{"http.in.downstream_rq_4xx", nil, "http_downstream_rq_xx;envoy_http_conn_manager_prefix=in;envoy_response_code_class=4"},
		{"vhost.v.vcluster.c.count", nil, "vhost_vcluster_count;envoy_virtual_cluster=c;envoy_virtual_host=v"},
		{"waf_ruleid=949110_phase=body_total", tags, "waf_phase__total;env=a_b;phase=body;rule_id=949110"},
		{strings.Repeat("n", 1024), nil, strings.Repeat("n", 1024)},
	} {
		if got := nameOf(test.name, test.tags); got != test.want {
			t.Errorf("%q: %q", test.name, got)
		}
	}
}

func TestTagsThatAreRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"tag_name": "a", "fixed_value": "b"},`, tagsMax+1), ",")
	for text, why := range map[string]string{
		`{}`:                                       "must be a list",
		`[{"tag_name": "a"}]`:                      "either",
		`[{"regex": "(a)"}]`:                       "tag_name",
		`[{"tag_name": "a", "regex": "("}]`:        "missing closing",
		`[{"tag_name": "a", "regex": "a"}]`:        "0 groups",
		fmt.Sprintf(`[%s]`, many):                  "at most 16",
		`[{"tag_name": "a", "regex": "((a)(b))"}]`: "3 groups",
	} {
		if _, err := readTags([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
