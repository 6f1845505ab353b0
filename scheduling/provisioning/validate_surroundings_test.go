package provisioning_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Every list of objects is looked through before anything reads it: an entry that is nil
// is a fault, and no reason to panic.
func TestNilEntriesAreFaults(t *testing.T) {
	lists := 0
	var walk func(path string, pick func(*scheduling.Problem) reflect.Value)
	walk = func(path string, pick func(*scheduling.Problem) reflect.Value) {
		p := schedulingtest.Random(3, schedulingtest.Size{TopologyTerms: true})
		kind := pick(&p).Type()
		for i := range kind.NumField() {
			field := kind.Field(i)
			in := func(p *scheduling.Problem) reflect.Value { return pick(p).Field(i) }
			switch {
			case field.Type == reflect.TypeFor[scheduling.Owners]():
				walk(path+field.Name+".", in)
			case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Pointer:
				lists++
				t.Run(path+field.Name, func(t *testing.T) {
					list := in(&p)
					list.Set(reflect.Append(list, reflect.Zero(field.Type.Elem())))
					plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
					require.ErrorIs(t, err, scheduling.ErrInvalid)
					assert.Nil(t, plan)
					assert.ErrorContains(t, err, "]: is nil")
				})
				p = schedulingtest.Random(3, schedulingtest.Size{TopologyTerms: true})
			}
		}
	}
	walk("", func(p *scheduling.Problem) reflect.Value { return reflect.ValueOf(p).Elem() })
	assert.Greater(t, lists, 10)
}

// Default constraints that kube-scheduler's configuration would refuse are reported with their index, all at once, and
// so are objects without a name or with the name of another one.
func TestFaultsOfSurroundings(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
	p := scheduling.Problem{
		DefaultSpread: []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule},
			{MaxSkew: 0, TopologyKey: "a b", WhenUnsatisfiable: "Maybe"},
			{MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway},
		},
		Services:   []*corev1.Service{{ObjectMeta: meta}, {ObjectMeta: meta}},
		Namespaces: []*corev1.Namespace{{}},
	}
	err := provisioning.Validate(&p)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	for _, want := range []string{
		"namespaces[0].metadata.name: is missing",
		"services[shop/web]: is there more than once",
		`defaultSpread[1].maxSkew: must be at least 1: "0"`,
		"defaultSpread[1].topologyKey: is no label key",
		`defaultSpread[1].whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway: "Maybe"`,
		"defaultSpread[2].topologyKey: is missing",
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "defaultSpread[0]")
}

// A node that is still starting has the labels and resources of its type in the catalog, whether or not its pool still
// exists; verify agrees.
func TestNodesThatStartOutliveTheirPool(t *testing.T) {
	p := schedulingtest.Random(5567, schedulingtest.Size{Nodes: 3})
	p.Pods, p.Running = p.Pods[:0], nil
	p.Pods = append(p.Pods, schedulingtest.Pod("late"))
	it, _ := p.Catalog.Get(p.Catalog.Names()[0])
	p.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "starting", Labels: map[string]string{
		scheduling.NodePoolLabel: "gone", corev1.LabelInstanceTypeStable: it.Name, corev1.LabelTopologyZone: it.Offerings[0].Zone,
		offerings.CapacityTypeLabel: string(it.Offerings[0].CapacityType), corev1.LabelHostname: "starting",
	}}}}
	p.NodePools, p.PoolCatalogs = nil, nil
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, plan.Existing, 1)
	require.NoError(t, verify.Checker{}.Plan(p, plan))
}
