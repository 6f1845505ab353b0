package kubescheduler_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/metrics"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// arguments are the plugin's arguments in a scheduler configuration.
func arguments(text string) *runtime.Unknown { return &runtime.Unknown{Raw: []byte(text)} }

// Arguments that are wrong are named, with their values, all at once.
func TestArgs(t *testing.T) {
	tests := map[string]struct {
		args     runtime.Object
		messages []string
	}{
		"no arguments":         {nil, nil},
		"no field":             {arguments(`{}`), nil},
		"all fields":           {arguments(`{"mode": "Pinned", "planFile": "/nowhere/plan.json", "maxAge": "1h"}`), nil},
		"malformed":            {arguments(`{`), []string{"pluginConfig of PlimsollPlacement: "}},
		"unknown field":        {arguments(`{"planfile": "x"}`), []string{`unknown field "planfile"`}},
		"wrong mode":           {arguments(`{"mode": "pinned"}`), []string{`mode "pinned" is none of ["Pinned" "Nominated" "Score"]`}},
		"negative age":         {arguments(`{"maxAge": "-1m"}`), []string{`maxAge -1m0s is negative`}},
		"age without a unit":   {arguments(`{"maxAge": "5"}`), []string{`missing unit in duration "5"`}},
		"several":              {arguments(`{"mode": "x", "maxAge": "-1s"}`), []string{`mode "x"`, `maxAge -1s`}},
		"arguments of another": {&corev1.Pod{}, []string{"expected arguments, got *v1.Pod"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := kubescheduler.Factory(kubescheduler.Options{Register: metrics.NewKubeRegistry().Register})(t.Context(), tt.args, nil)
			if tt.messages == nil {
				require.NoError(t, err)
			}
			for _, m := range tt.messages {
				require.ErrorContains(t, err, m)
			}
		})
	}
}

// Two profiles share the metrics; two factories on one registry do not.
func TestMetricsAreRegisteredOnce(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	first := kubescheduler.Factory(kubescheduler.Options{Register: registry.Register})
	for range 2 {
		_, err := first(t.Context(), nil, nil)
		require.NoError(t, err)
	}
	_, err := kubescheduler.Factory(kubescheduler.Options{Register: registry.Register})(t.Context(), nil, nil)
	require.ErrorContains(t, err, "PlimsollPlacement: register metrics: ")
	_, err = kubescheduler.Factory(kubescheduler.Options{Register: func(metrics.Registerable) error { return errors.New("closed") }})(t.Context(), nil, nil)
	require.EqualError(t, err, "PlimsollPlacement: register metrics: closed")
}

// A plan file may come late, change, and be malformed for a while: the last plan that could be read is followed.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.json")
	write := func(text []byte, at time.Time) {
		require.NoError(t, os.WriteFile(path+".new", text, 0o600))
		require.NoError(t, os.Chtimes(path+".new", at, at))
		require.NoError(t, os.Rename(path+".new", path))
	}
	on := func(node string) []byte {
		data, err := json.Marshal(scheduling.Plan{Existing: []scheduling.Assignment{{Node: node, Pods: []string{"default/web", "default/next", "default/last"}}}})
		require.NoError(t, err)
		return data
	}
	c := start(t, "{mode: Pinned, planFile: "+path+"}", nil)
	c.join(node("a", 1), node("b", 1), node("c", 1))
	write([]byte(`{"existing": 7}`), c.clock.read().Add(-time.Second))
	c.create(pod("early", 1))
	c.counts(map[string]int{"fallback/no_plan": 1})
	free := map[string]string{"a": "b", "b": "c", "c": "a"}[c.pod("early").Spec.NodeName]
	write(on(free), c.clock.read())
	c.logged("The plan was read", 1)
	c.create(pod("web", 1))
	c.bound(map[string]string{"web": free})
	write([]byte(`{`), c.clock.read().Add(time.Second))
	c.logged("unexpected end of JSON input", 1)
	c.create(pod("next", 1))
	c.pending("next", "Insufficient cpu")
	last := map[string]string{"a": "b", "b": "c", "c": "a"}[free]
	write(on(last), c.clock.read().Add(2*time.Second))
	c.bound(map[string]string{"next": last})
	require.NoError(t, os.Remove(path))
	c.create(pod("last", 1))
	c.pending("last", "Insufficient cpu")
	c.counts(map[string]int{"fallback/no_plan": 1, "planned": 2})
}

// A plan in memory has the pods of launches and of existing nodes, and no others.
func TestPlan(t *testing.T) {
	at := time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC)
	p := &kubescheduler.Plan{}
	read := func(name string) kubescheduler.Placement {
		got, err := p.Placement(&corev1.Pod{ObjectMeta: st.Pod(name).ObjectMeta})
		require.NoError(t, err)
		return got
	}
	_, err := p.Placement(st.Pod("a"))
	require.ErrorIs(t, err, kubescheduler.ErrNoPlan)
	p.Set(&scheduling.Plan{
		Launches:      []scheduling.Launch{{Name: "default-1", Pods: []string{"default/a"}}},
		Existing:      []scheduling.Assignment{{Node: "node-0", Pods: []string{"default/b"}}},
		Unschedulable: []scheduling.Unschedulable{{Pod: "default/c"}},
	}, at)
	require.Equal(t, kubescheduler.Placement{Launch: "default-1", At: at}, read("a"))
	require.Equal(t, kubescheduler.Placement{Node: "node-0", At: at}, read("b"))
	_, err = p.Placement(st.Pod("c"))
	require.ErrorIs(t, err, kubescheduler.ErrNotPlanned)
	p.Set(nil, at)
	_, err = p.Placement(st.Pod("a"))
	require.ErrorIs(t, err, kubescheduler.ErrNoPlan)
}
