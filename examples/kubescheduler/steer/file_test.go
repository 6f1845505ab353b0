package steer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/steer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// arguments returns the plugin's arguments in a scheduler configuration.
func arguments(text string) *runtime.Unknown { return &runtime.Unknown{Raw: []byte(text)} }

// A plan that was written to a file steers pods as it would from memory.
func TestFromFile(t *testing.T) {
	problem := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods:      st.Pods(1, "web", st.Requests(st.Cores(1))),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), problem)
	require.NoError(t, err)
	data, err := json.Marshal(plan)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "plan.json")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	plugin, err := steer.FromFile(t.Context(), arguments(`{"planFile": "`+path+`"}`), nil)
	require.NoError(t, err)
	prefilter, ok := plugin.(fwk.PreFilterPlugin)
	require.True(t, ok)
	result, status := prefilter.PreFilter(t.Context(), nil, problem.Pods[0], infos(st.Node("other"), launched("ip-10-0-0-7", "default-1")))
	require.True(t, status.IsSuccess())
	require.Equal(t, []string{"ip-10-0-0-7"}, result.NodeNames.UnsortedList())
}

func TestFromFileErrors(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"launches": 7}`), 0o600))
	tests := map[string]struct {
		args    runtime.Object
		message string
	}{
		"no arguments":       {nil, "PlimsollSteering: planFile is missing"},
		"no file":            {arguments(`{}`), "PlimsollSteering: planFile is missing"},
		"malformed":          {arguments(`{`), "PlimsollSteering: reading arguments: unexpected end of JSON input"},
		"file that is gone":  {arguments(`{"planFile": "/nowhere/plan.json"}`), "PlimsollSteering: open /nowhere/plan.json: no such file or directory"},
		"file that is wrong": {arguments(`{"planFile": "` + broken + `"}`), "PlimsollSteering: " + broken + " is no plan: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := steer.FromFile(t.Context(), tt.args, nil)
			require.ErrorContains(t, err, tt.message)
		})
	}
}
