package stream

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// tag extracts a label from the name of a metric, as Envoy does: the expression's first group is removed from the name,
// and the second one is the value; with one group, that is both.
type tag struct {
	label      string
	expression *regexp.Regexp
	fixed      string // value of all metrics, without an expression
}

// defaultTags are those of Envoy that can match the name of a filter's metric.
var defaultTags = []tag{
	{label: "envoy_response_code", expression: regexp.MustCompile(`_rq(_(\d{3}))$`)},
	{label: "envoy_response_code_class", expression: regexp.MustCompile(`_rq_((\d))xx$`)},
	{label: "envoy_http_conn_manager_prefix", expression: regexp.MustCompile(`^http\.((.*?)\.)`)},
	{label: "envoy_cluster_name", expression: regexp.MustCompile(`^cluster\.((.*?)\.)`)},
	{label: "envoy_virtual_host", expression: regexp.MustCompile(`^vhost\.((.*?)\.)`)},
	{label: "envoy_virtual_cluster", expression: regexp.MustCompile(`^vhost\..*?\.vcluster\.((.*?)\.)`)},
}

// tagsMax is the maximum number of tags in a configuration.
const tagsMax = 16

// readTags reads the value of "@stats_tags", which is a list as in Envoy's stats_config.stats_tags.
func readTags(text json.RawMessage) ([]tag, error) {
	var specs []struct {
		Name  string `json:"tag_name"`
		Regex string `json:"regex"`
		Fixed string `json:"fixed_value"`
	}
	if err := json.Unmarshal(text, &specs); err != nil {
		return nil, fmt.Errorf("\"@stats_tags\" must be a list of objects with \"tag_name\" and \"regex\" or \"fixed_value\": %w", err)
	}
	if len(specs) > tagsMax {
		return nil, fmt.Errorf("\"@stats_tags\" has %d tags; at most %d are possible", len(specs), tagsMax)
	}
	var tags []tag
	for _, spec := range specs {
		one := tag{label: plainName(spec.Name), fixed: spec.Fixed}
		if spec.Name == "" || (spec.Regex == "") == (spec.Fixed == "") {
			return nil, fmt.Errorf("a tag of \"@stats_tags\" has \"tag_name\", and either \"regex\" or \"fixed_value\"; this one is %q", spec.Name)
		}
		if spec.Regex != "" {
			expression, err := regexp.Compile(spec.Regex)
			if err != nil {
				return nil, fmt.Errorf("\"@stats_tags\", tag %q: %w", spec.Name, err)
			}
			if groups := expression.NumSubexp(); groups < 1 || groups > 2 {
				return nil, fmt.Errorf("\"@stats_tags\", tag %q: the expression has %d groups instead of 1 or 2", spec.Name, groups)
			}
			one.expression = expression
		}
		tags = append(tags, one)
	}
	return tags, nil
}

// nameOf returns the host's name of a metric: without the parts that tags match, which become labels.
func nameOf(name string, tags []tag) string {
	type part struct{ begin, end int }
	var removed []part
	values := map[string]string{}
	for _, t := range slices.Concat(tags, defaultTags) {
		if _, ok := values[t.label]; ok {
			continue
		}
		if t.expression == nil {
			values[t.label] = t.fixed
			continue
		}
		at := t.expression.FindStringSubmatchIndex(name)
		if at == nil || at[2] < 0 {
			continue
		}
		value := name[at[len(at)-2]:at[len(at)-1]]
		if len(at) == 6 && at[4] < 0 {
			value = ""
		}
		values[t.label] = value
		removed = append(removed, part{at[2], at[3]})
	}
	var rest strings.Builder
	at := 0
	slices.SortFunc(removed, func(a, b part) int { return a.begin - b.begin })
	for _, p := range removed {
		// Tags may overlap.
		rest.WriteString(name[min(at, p.begin):p.begin])
		at = max(at, p.end)
	}
	rest.WriteString(name[at:])
	text := plainName(rest.String())
	labels := make([]string, 0, len(values))
	for label, value := range values {
		labels = append(labels, ";"+label+"="+strings.Map(raw.LabelRune, value))
	}
	slices.Sort(labels)
	return text + strings.Join(labels, "")
}

// plainName returns a name that the host allows: characters other than letters and digits become underscores.
func plainName(name string) string {
	plain := []byte(name)
	for i, c := range plain {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			plain[i] = '_'
		}
	}
	if len(plain) != 0 && plain[0] >= '0' && plain[0] <= '9' {
		return "_" + string(plain)
	}
	return string(plain)
}
