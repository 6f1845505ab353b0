package simulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// told is a watcher that counts.
type told struct {
	upserts, deletes int
	budgets          map[string]int32 // the evictions that are allowed
}

func (w *told) Upsert(objects ...metav1.Object) error {
	w.upserts += len(objects)
	for _, o := range objects {
		if b, ok := o.(*policyv1.PodDisruptionBudget); ok {
			w.budgets[b.Name] = b.Status.DisruptionsAllowed
		}
	}
	return nil
}

func (w *told) Delete(objects ...metav1.Object) error {
	w.deletes += len(objects)
	return nil
}

// Pods wait until a machine has joined, as long as it starts; a drained node is empty before its machine is terminated,
// and no budget is exceeded on the way.
func TestWorld(t *testing.T) {
	opts := options(t)
	opts.Scarce, opts.Interruptions, opts.JobsPerDay, opts.Noise = false, 0, 0, 0
	opts.Services = []Service{{Name: "web", Pods: 20, CPU: "1", Memory: "1Gi"}}
	w, watcher := NewWorld(opts), &told{budgets: map[string]int32{}}
	require.NoError(t, w.Watch(watcher))
	now := Start()
	advance := func() {
		require.NoError(t, w.Advance(now))
		now = now.Add(opts.Tick)
	}
	advance()
	pods, pending := w.Cluster.Count()
	require.Equal(t, []int{20, 20}, []int{pods, pending})
	require.Zero(t, watcher.budgets["web"])
	for _, p := range w.Cluster.Pods {
		require.Equal(t, corev1.PodReasonUnschedulable, p.Status.Conditions[0].Reason)
	}

	order := controller.Order{Option: onDemand(t, opts)}
	order.Launch.NodePool = "general"
	var names []string
	for _, order.ID = range []string{"a", "b", "c", "d", "e"} {
		name, err := w.Cloud.Launch(t.Context(), order)
		require.NoError(t, err)
		names = append(names, name)
	}
	advance()
	require.Empty(t, w.Cluster.Nodes)
	advance()
	require.Len(t, w.Cluster.Nodes, 5)
	_, pending = w.Cluster.Count()
	require.Zero(t, pending)
	require.Len(t, w.Cluster.Waits, 20)
	require.Equal(t, bootTime, w.Cluster.Waits[0])
	require.Equal(t, int32(2), watcher.budgets["web"])

	d, before := NewDrains(w), len(w.Cluster.On(names[0]))
	require.Positive(t, before)
	require.NoError(t, d.Begin(t.Context(), names[0]))
	for rounds := 1; w.Cloud.Instances[names[0]] != nil; rounds++ {
		require.Less(t, rounds, 20)
		require.NoError(t, d.Advance(t.Context()))
		_, pending = w.Cluster.Count()
		require.LessOrEqual(t, pending, 2, "the budget lets a tenth be away")
		require.NoError(t, w.Schedule())
	}
	advance()
	require.NoError(t, d.Advance(t.Context()))
	require.Zero(t, d.Len())
	require.NotContains(t, w.Cluster.Nodes, names[0])
	require.Zero(t, w.Cluster.Killed)
	require.Len(t, w.Cluster.Waits, 20+before)

	// A machine that is terminated under its pods kills them.
	killed := len(w.Cluster.On(names[1]))
	require.NoError(t, w.Cloud.Terminate(t.Context(), controller.Machine{Name: names[1]}))
	advance()
	require.Equal(t, killed, w.Cluster.Killed)
}

// onDemand is an offering on demand of the catalog.
func onDemand(t *testing.T, opts Options) scheduling.LaunchOption {
	t.Helper()
	for it := range opts.Catalog.All() {
		for _, o := range it.Offerings {
			if o.CapacityType == offerings.OnDemand {
				return scheduling.LaunchOption{InstanceType: it.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price}
			}
		}
	}
	t.Fatal("the catalog has no offering on demand")
	return scheduling.LaunchOption{}
}

// The wave is highest in the afternoon.
func TestReplicas(t *testing.T) {
	s := Service{Pods: 100, Wave: 0.5}
	require.Equal(t, 150, s.replicas(Start().Add(15*time.Hour), false))
	require.Equal(t, 50, s.replicas(Start().Add(3*time.Hour), false))
	require.Equal(t, 100, s.replicas(Start().Add(3*time.Hour), true))
}
