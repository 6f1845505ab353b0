package provisioning

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Every field that a NodePool has is read, and comes out as it went in: a field
// that is added to the type and not to the decoder fails here.
func TestDecodeNodePoolReadsEveryField(t *testing.T) {
	want := &scheduling.NodePool{}
	fill(reflect.ValueOf(want).Elem())
	want.ManagedFields = nil // raw JSON
	want.APIVersion, want.Kind = "karpenter.sh/v1", "NodePool"
	raw, err := json.Marshal(want)
	require.NoError(t, err)
	got, warnings, err := scheduling.DecodeNodePool(raw)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	again, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, string(raw), string(again))
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
func TestDecodeNodePoolFindsEveryWrongType(t *testing.T) {
	pool := &scheduling.NodePool{}
	fill(reflect.ValueOf(pool).Elem())
	pool.ManagedFields = nil
	pool.APIVersion, pool.Kind, pool.Name = "karpenter.sh/v1", "NodePool", "a"
	raw, err := json.Marshal(pool)
	require.NoError(t, err)
	root, err := scheduling.Tree(raw)
	require.NoError(t, err)
	looked := 0
	paths(root, nil, func(path []string) {
		name := strings.Join(path, ".")
		decode := func(with any) error {
			changed, err := json.Marshal(replaced(root, path, with))
			require.NoError(t, err)
			_, _, err = scheduling.DecodeNodePool(changed)
			return err
		}
		// No field takes a list of lists.
		err := decode([]any{[]any{}})
		require.Error(t, err, name)
		text := strings.ReplaceAll(err.Error(), "[0]", ".0")
		if path[0] == "metadata" && len(path) > 1 {
			return // most of it is the API server's
		}
		looked++
		assert.Contains(t, text, path[len(path)-1], name)
		required := name == "metadata" || name == "spec"
		inMap := len(path) > 1 && (path[len(path)-2] == "labels" || path[len(path)-2] == "annotations" || path[len(path)-2] == "limits")
		inList := path[len(path)-1] == "0"
		if err := decode(nil); required || inMap || inList {
			assert.Error(t, err, name)
		} else {
			assert.NoError(t, err, name)
		}
	})
	assert.Greater(t, looked, 30)
}
