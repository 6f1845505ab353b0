package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

func TestObjects(t *testing.T) {
	in := strings.NewReader(`{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "v1", "kind": "Secret"}]}`)
	var got []manifest.Object
	require.NoError(t, manifest.Loader{Stdin: in}.Objects(func(o manifest.Object) { got = append(got, o) }, "-"))
	require.Len(t, got, 2)
	require.Equal(t, []any{"v1", "Pod", true}, []any{got[0].APIVersion, got[0].Kind, got[0].Read})
	require.JSONEq(t, `{"apiVersion": "v1", "kind": "Pod"}`, string(got[0].JSON))
	require.False(t, got[1].Read, "plans read no Secrets")

	require.ErrorContains(t, manifest.Loader{Stdin: strings.NewReader("{")}.Objects(func(manifest.Object) {}, "-"), "stdin")
	require.ErrorContains(t, manifest.Loader{}.Objects(func(manifest.Object) {}, "nowhere"), "nowhere")
}
