package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/compare"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// described is an output in JSON: its type, and commands that print it.
type described struct {
	name, title string
	of          reflect.Type
	printed     [][]string
}

// PriceEntry is a price in the file that "plimsoll prices" writes.
type PriceEntry struct {
	Region       string                 `doc:"The region of the price; empty is every one." json:"region,omitempty"`
	InstanceType string                 `doc:"The name of the instance type." json:"instanceType"`
	CapacityType offerings.CapacityType `doc:"How its nodes are paid for." json:"capacityType"`
	Zone         string                 `doc:"The zone; empty is every zone of the region." json:"zone,omitempty"`
	ZoneID       string                 `doc:"The id of the zone, which says the same in every AWS account." json:"zoneID,omitempty"`
	Price        offerings.Price        `doc:"The price of a node in USD per hour." json:"price"`
	Date         string                 `doc:"The day of the price, as YYYY-MM-DD." json:"date,omitempty"`
	PriceList    string                 `doc:"The price list that it stands in." json:"priceList,omitempty"`
}

// outputs are all outputs in JSON that the command has.
func outputs(t *testing.T) []described {
	t.Helper()
	dump := []string{"-f", "testdata/dump.json", "--catalog", "testdata/market.json", "-o", "json"}
	shop := []string{"-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "-o", "json"}
	with := func(list []string, args ...string) []string { return append(args, list...) }
	plan := temp(t, "plan.json", run(t, with(shop, "plan")...).stdout)
	return []described{
		{"plan", "plimsoll plan -o json", reflect.TypeFor[scheduling.Plan](), [][]string{
			with(shop, "plan"), with(dump, "plan"), {"plan", "-f", services, "--effort", "fast", "-o", "json"},
		}},
		{"alternatives", "plimsoll plan --alternatives -o json", reflect.TypeFor[struct {
			Alternatives []provisioning.Alternative `doc:"The plans that differ: those that place the most pods first, then the cheapest." json:"alternatives"`
		}](), [][]string{with(shop, "plan", "--alternatives")}},
		{"consolidate", "plimsoll consolidate -o json", reflect.TypeFor[disruption.ConsolidationPlan](), [][]string{waste("-o", "json"), with(dump, "consolidate")}},
		{"report", "plimsoll report -o json", reflect.TypeFor[report.Report](), [][]string{reported("-o", "json")}},
		{"whatif", "plimsoll whatif -o json", reflect.TypeFor[whatif.Cases](), [][]string{with(dump, "whatif", "--case", "a: --no-spot", "--case", "b: -f testdata/nopool.yaml")}},
		{"diff", "plimsoll diff -o json", reflect.TypeFor[compare.Diff](), [][]string{with(shop, "diff", "testdata/nopool.yaml", "testdata/reserved.yaml"), {"diff", plan, plan, "-o", "json"}}},
		{"lint", "plimsoll lint -o json", reflect.TypeFor[lint.Report](), [][]string{{"lint", "-f", "testdata/lint.yaml", "--catalog", "testdata/market.json", "-o", "json"}}},
		{"explain-pod", "plimsoll explain pod/NAMESPACE/NAME -o json", reflect.TypeFor[explanation.PodExplanation](), [][]string{explainTied("pod/web-2", "-o", "json"), explainShop("pod/shop/web-0", "-o", "json")}},
		{"explain-launch", "plimsoll explain launch/NAME -o json", reflect.TypeFor[explanation.LaunchExplanation](), [][]string{explainShop("node/general-1", "-o", "json")}},
		{"explain-node", "plimsoll explain node/NAME -o json", reflect.TypeFor[explanation.NodeExplanation](), [][]string{explainTied("node/old", "-o", "json")}},
		{"catalog", "plimsoll catalog -o json", reflect.TypeFor[struct {
			Version       int                          `doc:"The version of the format, 1." json:"version"`
			Provenance    []instancetypes.Provenance   `doc:"Where the figures come from." json:"provenance,omitempty"`
			InstanceTypes []instancetypes.InstanceType `doc:"The instance types, by name." json:"instanceTypes"`
		}](), [][]string{{"catalog", "-o", "json"}, {"catalog", "-o", "json", "--catalog", "testdata/reserved.csv"}}},
		{"prices", "plimsoll prices -o json", reflect.TypeFor[struct {
			Prices []PriceEntry `doc:"The prices, in order of region, instance type, capacity type and zone." json:"prices"`
		}](), [][]string{{"prices", "../../examples/prices/aws-products.json", "../../examples/prices/spot-price-history.json", "-o", "json"}}},
		{"regions", "plimsoll catalog --regions -o json", reflect.TypeFor[[]string](), [][]string{{"catalog", "--regions", "-o", "json"}}},
	}
}

// Schemas and reference are what the types say; with -update they are written anew. Every output
// keeps to its schema.
func TestSchemas(t *testing.T) {
	const dir = "../../docs/schema"
	g, schemas := &generator{t: t, docs: map[string]*packageDocs{}, types: map[string]reflect.Type{}}, map[string]object{}
	var names []string
	same := func(path, text string) {
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), text, "%s: run the tests with -update if this is meant to change", path)
	}
	for _, o := range outputs(t) {
		s := g.document(o.name, o.title, o.of)
		names, schemas[o.name] = append(names, o.name), s
		text, err := json.MarshalIndent(s, "", "  ")
		require.NoError(t, err)
		same(filepath.Join(dir, o.name+".json"), string(text)+"\n")
		var read object
		require.NoError(t, json.Unmarshal(text, &read))
		for _, args := range o.printed {
			r := run(t, args...)
			var value any
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &value), r.stderr)
			require.Empty(t, breaches(read, read, value, o.name), "%s", args)
		}
	}
	same("../../docs/reference.md", reference(names, schemas))
	files, err := filepath.Glob(dir + "/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(names), "schemas of nothing")
}

// No command prints JSON that has no schema.
func TestEveryOutputHasASchema(t *testing.T) {
	var titles []string
	for _, o := range outputs(t) {
		titles = append(titles, o.title)
	}
	for _, cmd := range (&app{}).root().Commands() {
		if flag := cmd.Flags().Lookup("output"); flag != nil && strings.Contains(flag.Usage, "json") {
			require.True(t, slices.ContainsFunc(titles, func(title string) bool { return strings.HasPrefix(title, "plimsoll "+cmd.Name()+" ") }), "%s", cmd.Name())
		}
	}
}

// What breaks a schema is found.
func TestBreaches(t *testing.T) {
	root := object{
		"$defs": object{"Pod": object{"type": "object", "properties": object{"name": object{"type": "string", "enum": []any{"a"}}}, "required": []any{"name"}, "additionalProperties": false}},
		"type":  "array", "items": object{"$ref": "#/$defs/Pod"},
	}
	for text, faults := range map[string]int{
		`[{"name":"a"}]`: 0, `[]`: 0, `{}`: 1, `null`: 1, `[{"name":"b"}]`: 1, `[{}]`: 1, `[{"name":"a","x":1}]`: 1, `[{"name":1},{}]`: 2,
	} {
		var value any
		require.NoError(t, json.Unmarshal([]byte(text), &value))
		require.Len(t, breaches(root, root, value, ""), faults, text)
	}
}

// breaches is how a value breaks a schema; it knows the keywords that the generator uses.
func breaches(root, s object, value any, at string) (out []string) {
	if ref, ok := s["$ref"].(string); ok {
		return breaches(root, asObject(asObject(root["$defs"])[strings.TrimPrefix(ref, "#/$defs/")]), value, at)
	}
	fault := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	kind := ""
	switch v := value.(type) {
	case bool:
		kind = "boolean"
	case string:
		kind = "string"
		if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, any(v)) {
			fault("%q is none of %v", v, enum)
		}
	case float64:
		if kind = "number"; v == math.Trunc(v) && s["type"] == "integer" {
			kind = "integer"
		}
	case []any:
		kind = "array"
		for i, item := range v {
			out = append(out, breaches(root, asObject(s["items"]), item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		kind = "object"
		for _, name := range sortedKeys(v) {
			if p, known := asObject(s["properties"])[name]; known {
				out = append(out, breaches(root, p.(object), v[name], at+"."+name)...)
			} else if more, ok := s["additionalProperties"].(object); ok {
				out = append(out, breaches(root, more, v[name], at+"."+name)...)
			} else if s["additionalProperties"] == false {
				fault("%s is no field", name)
			}
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				fault("%s is missing", name)
			}
		}
	}
	if want, typed := s["type"].(string); typed && want != kind {
		fault("is %q, and no %s", kind, want)
	}
	return out
}
