package provisioning_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A change that is faulty anywhere changes nothing, and every fault is named.
func TestFaultyChangesChangeNothing(t *testing.T) {
	negative := schedulingtest.Pod("bad", schedulingtest.Requests(schedulingtest.MilliCPU(-1)))
	good := schedulingtest.Pod("good")
	name := func(n string) []types.NamespacedName { return []types.NamespacedName{{Namespace: "default", Name: n}} }
	for what, tt := range map[string]struct {
		delta scheduling.Delta
		says  []string
	}{
		"a faulty pod": {
			scheduling.Delta{Pods: []*corev1.Pod{good, negative}},
			[]string{`pods[default/bad].spec.containers[0].resources.requests.cpu: is negative: "-1m"`},
		},
		"a pod that is missing": {scheduling.Delta{Pods: []*corev1.Pod{good, nil}}, []string{"pods[1]: is nil"}},
		"a pod twice": {
			scheduling.Delta{Pods: []*corev1.Pod{good, schedulingtest.Pod("good", schedulingtest.OnNode("node-1"))}},
			[]string{"[default/good]: is there more than once"},
		},
		"things that are not there": {
			scheduling.Delta{Pods: []*corev1.Pod{good}, Removed: scheduling.Removed{Pods: name("nobody"), Nodes: []string{"nowhere"}, Claims: name("none")}},
			[]string{"removed.pods[default/nobody]: is not there", "removed.nodes[nowhere]: is not there", "removed.claims[default/none]: is not there"},
		},
		"a pod that comes and goes": {
			scheduling.Delta{Pods: []*corev1.Pod{good}, Removed: scheduling.Removed{Pods: name("good")}},
			[]string{"removed.pods[default/good]: is removed and there at once"},
		},
		"twice the same": {
			scheduling.Delta{Removed: scheduling.Removed{Nodes: []string{"node-1", "node-1"}}},
			[]string{"removed.nodes[node-1]: is removed more than once"},
		},
		"a service without a name":    {scheduling.Delta{Services: []*corev1.Service{{}}}, []string{"services[0].metadata.name: is missing"}},
		"a namespace that is missing": {scheduling.Delta{Namespaces: []*corev1.Namespace{nil}}, []string{"namespaces[0]: is nil"}},
		"a catalog for nobody": {
			scheduling.Delta{PoolCatalogs: map[string]*instancetypes.Catalog{"other": schedulingtest.MustCatalog()}},
			[]string{"poolCatalogs[other]: there is no NodePool of this name"},
		},
		"moves that cannot be": {
			scheduling.Delta{
				Pods: []*corev1.Pod{good},
				Moved: []scheduling.Move{
					{Pod: types.NamespacedName{Name: "db"}, Node: "node-2"}, {Pod: types.NamespacedName{Namespace: "default", Name: "db"}, Node: "node-1"},
					{Pod: types.NamespacedName{Name: "web-1"}, Node: "node-1"}, {Pod: types.NamespacedName{Name: "good"}, Node: "node-1"},
				},
			},
			[]string{"moved[default/db]: has moved more than once", "moved[default/web-1]: does not run", "moved[default/good]: has moved and is listed again"},
		},
		"a move of a pod that goes": {
			scheduling.Delta{Moved: []scheduling.Move{{Pod: types.NamespacedName{Name: "db"}, Node: "node-2"}}, Removed: scheduling.Removed{Pods: name("db")}},
			[]string{"moved[default/db]: has moved and is removed"},
		},
		"a move to nowhere": {
			scheduling.Delta{Moved: []scheduling.Move{{Pod: types.NamespacedName{Name: "db"}}}},
			[]string{"moved[default/db].node: is missing"},
		},
		"an offering of nothing": {
			scheduling.Delta{Offerings: []instancetypes.OfferingChange{{InstanceType: "none"}}},
			[]string{`offerings[0].instanceType: is in no catalog: "none"`},
		},
		"an offering at a faulty price": {
			scheduling.Delta{Offerings: []instancetypes.OfferingChange{{
				InstanceType: "m7i.large", Offering: offerings.Offering{Zone: "us-east-1a", CapacityType: offerings.OnDemand, Price: -1},
			}}},
			[]string{"offerings: ", "m7i.large", "price"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			p := mixedMarket()
			p.Pods = schedulingtest.Pods(2, "web")
			s, err := provisioning.NewSession(scheduling.Policy{}, p)
			require.NoError(t, err)
			before := s.Problem()
			err = s.Apply(tt.delta)
			require.ErrorIs(t, err, scheduling.ErrInvalid)
			for _, text := range tt.says {
				assert.ErrorContains(t, err, text)
			}
			assert.Equal(t, before, s.Problem())
			same(t, scheduling.Policy{}, s, "after the fault")
		})
	}
}

// A single price changes where the plan goes.
func TestSingleOfferingsChange(t *testing.T) {
	p := mixedMarket()
	p.Nodes, p.Running = nil, nil
	p.Pods = schedulingtest.Pods(2, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2)))
	s, err := provisioning.NewSession(scheduling.Policy{}, p)
	require.NoError(t, err)
	bought := func() string {
		plan := same(t, scheduling.Policy{}, s, "as it is now")
		require.Len(t, plan.Launches, 1)
		return plan.Launches[0].Options[0].InstanceType
	}
	assert.Equal(t, "m7i.large", bought())
	fork := s.Fork()
	change := instancetypes.OfferingChange{InstanceType: "m7i.xlarge", Offering: offerings.Offering{
		Zone: "us-east-1a", CapacityType: offerings.OnDemand, Price: schedulingtest.Cents(5),
	}}
	_, ok := p.Catalog.Get("m7i.xlarge")
	require.True(t, ok)
	require.NoError(t, s.Apply(scheduling.Delta{Offerings: []instancetypes.OfferingChange{change}}))
	assert.Equal(t, "m7i.xlarge", bought())
	was, ok := p.Catalog.Lookup(offerings.Key{InstanceType: "m7i.xlarge", Zone: "us-east-1a", CapacityType: offerings.OnDemand})
	require.True(t, ok)
	assert.Equal(t, schedulingtest.Cents(19), was.Price, "the caller's catalog stays")
	plan := same(t, scheduling.Policy{}, fork, "the fork")
	assert.Equal(t, "m7i.large", plan.Launches[0].Options[0].InstanceType)
}

// An empty market is refused by Plan and not by Apply, since later changes may fill it.
func TestAnEmptyMarketIsForSolveToRefuse(t *testing.T) {
	p := mixedMarket()
	p.Nodes, p.Running, p.Catalog = nil, nil, schedulingtest.MustCatalog()
	s, err := provisioning.NewSession(scheduling.Policy{}, p)
	require.NoError(t, err)
	require.NoError(t, s.Apply(scheduling.Delta{Pods: schedulingtest.Pods(1, "web")}))
	_, err = s.Plan(context.Background())
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	require.NoError(t, s.Apply(scheduling.Delta{Catalog: mixedMarket().Catalog}))
	assert.NotNil(t, same(t, scheduling.Policy{}, s, "with a catalog"))
}

// A session refuses the problems that a planner refuses.
func TestNewSessionRefuses(t *testing.T) {
	_, err := provisioning.NewSession(scheduling.Policy{Effort: -1}, mixedMarket())
	require.ErrorContains(t, err, "solver.effort")
	p := mixedMarket()
	p.Nodes = append(p.Nodes, p.Nodes[0])
	_, err = provisioning.NewSession(scheduling.Policy{}, p)
	require.ErrorContains(t, err, "nodes[node-1]: is there more than once")
}

// Names may come and go for long without leaving anything behind that shows.
func TestSessionsForgetWhatPodsWere(t *testing.T) {
	s, err := provisioning.NewSession(scheduling.Policy{Effort: scheduling.EffortFast}, mixedMarket())
	require.NoError(t, err)
	var last *corev1.Pod
	for i := range 3_000 {
		d := scheduling.Delta{Pods: []*corev1.Pod{schedulingtest.Pod("web-"+string(rune('a'+i%2)),
			schedulingtest.Requests(schedulingtest.MilliCPU(int64(10+i%1_900)), schedulingtest.Count("example.com/device", int64(i%2))))}}
		if last != nil {
			d.Removed.Pods = []types.NamespacedName{{Namespace: last.Namespace, Name: last.Name}}
		}
		last = d.Pods[0]
		require.NoError(t, s.Apply(d))
		if i%500 == 0 {
			same(t, scheduling.Policy{Effort: scheduling.EffortFast}, s, "on the way")
		}
	}
	plan := same(t, scheduling.Policy{Effort: scheduling.EffortFast}, s, "in the end")
	assert.Equal(t, 1, plan.Summary.Pods)
}
