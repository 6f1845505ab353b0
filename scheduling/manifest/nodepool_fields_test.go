package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/filled"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// poolOf decodes a NodePool of karpenter.sh/v1 from JSON.
func poolOf(raw []byte) *decodedPool {
	return decodeNodePool(rawObject{apiVersion: karpenterGroup + "/v1", kind: "NodePool", json: raw})
}

// filledPool returns a pool that has every field.
func filledPool() *scheduling.NodePool {
	pool := filled.New[scheduling.NodePool]()
	pool.ManagedFields = nil // raw JSON
	pool.APIVersion, pool.Kind, pool.Name, pool.UID = karpenterGroup+"/v1", "NodePool", "a", ""
	return pool
}

// paths lists the paths of all values in a JSON tree, with the first entry of lists.
func paths(v any, at []string, visit func(path []string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			paths(v[k], append(at[:len(at):len(at)], k), visit)
		}
	case []any:
		if len(v) > 0 {
			paths(v[0], append(at[:len(at):len(at)], "0"), visit)
		}
	}
	if len(at) > 0 {
		visit(at)
	}
}

// replaced returns the tree with one value replaced.
func replaced(v any, path []string, with any) any {
	if len(path) == 0 {
		return with
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = e
		}
		out[path[0]] = replaced(v[path[0]], path[1:], with)
		return out
	case []any:
		out := append([]any(nil), v...)
		out[0] = replaced(v[0], path[1:], with)
		return out
	}
	return v
}

// A value of a wrong type, put anywhere, is found there; null, put anywhere but
// into lists and maps of text, is as if it were absent.
func TestNodePoolFindsEveryWrongType(t *testing.T) {
	raw, err := json.Marshal(filledPool())
	require.NoError(t, err)
	require.Empty(t, poolOf(raw).faults)
	var root any
	require.NoError(t, json.Unmarshal(raw, &root))
	looked := 0
	paths(root, nil, func(path []string) {
		name := strings.Join(path, ".")
		decode := func(with any) string {
			changed, err := json.Marshal(replaced(root, path, with))
			require.NoError(t, err)
			var fields []string
			for _, f := range poolOf(changed).faults {
				fields = append(fields, f.field)
			}
			return strings.ReplaceAll(strings.Join(fields, " "), "[0]", ".0")
		}
		looked++
		// No field takes a list of lists.
		assert.Contains(t, decode([]any{[]any{}}), path[len(path)-1], name)
		required := name == "spec"
		inMap := len(path) > 1 && (path[len(path)-2] == "labels" || path[len(path)-2] == "annotations" || path[len(path)-2] == "limits")
		inList := path[len(path)-1] == "0"
		assert.Equal(t, required || inMap || inList, decode(nil) != "", name)
	})
	assert.Greater(t, looked, 30)
}
