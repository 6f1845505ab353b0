package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	karpenter "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Peer is Karpenter's scheduler.
type Peer struct {
	// Workers is how many goroutines look for a place for one pod; less than 1 is 1,
	// which is what Karpenter uses where its container requests up to one core.
	Workers int
}

// Name implements [peer.Peer].
func (Peer) Name() string { return "karpenter" }

// Load implements [peer.Peer]. Running nodes are not translated.
func (k Peer) Load(p scheduling.Problem) (peer.Run, error) {
	if len(p.Nodes) > 0 || len(p.Running) > 0 {
		return nil, errors.New("running nodes are not translated")
	}
	pools, err := nodePools(p.NodePools)
	if err != nil {
		return nil, err
	}
	catalogs := []*instancetypes.Catalog{p.Catalog}
	for _, c := range p.PoolCatalogs {
		catalogs = append(catalogs, c)
	}
	keys := keysOf(catalogs...)
	register(keys)

	r := &run{workers: max(1, k.Workers), pools: pools, cloud: provider{}, shelves: map[string]shelf{}, original: map[types.UID]*corev1.Pod{}}
	common := translate(p.Catalog, keys, p.Unavailable, p.Now)
	for _, pool := range pools {
		s := common
		if own, ok := p.PoolCatalogs[pool.Name]; ok {
			s = translate(own, keys, p.Unavailable, p.Now)
		}
		r.shelves[pool.Name], r.cloud[pool.Name] = s, s.types
	}
	for i, pod := range p.Pods {
		admitted := peer.Admitted(pod)
		admitted.UID = types.UID(fmt.Sprintf("pod-%08d", i)) // Karpenter keeps its notes by UID
		r.original[admitted.UID] = pod
		r.pods = append(r.pods, admitted)
	}
	for _, ds := range p.DaemonSets {
		r.daemons = append(r.daemons, daemonset.PodForDaemonSet(ds.DeepCopy()))
	}
	r.kube = fake.NewClientBuilder().Build()
	r.cluster = state.NewCluster(clock.RealClock{}, r.kube, r.cloud)
	return r, nil
}

type run struct {
	workers  int
	pools    []*karpv1.NodePool
	cloud    provider
	shelves  map[string]shelf
	pods     []*corev1.Pod
	original map[types.UID]*corev1.Pod
	daemons  []*corev1.Pod
	kube     client.Client
	cluster  *state.Cluster

	results karpenter.Results
	late    bool
}

// Solve does what the provisioner's Schedule does between gathering its objects and
// reporting: topology, scheduler, solve, truncate.
func (r *run) Solve(ctx context.Context) error {
	ctx = options.ToContext(injection.WithControllerName(ctx, "provisioner"), &options.Options{
		CPURequests:       1000 * int64(r.workers),
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
		FeatureGates:      options.FeatureGates{ReservedCapacity: true},
	})
	ctx = log.IntoContext(ctx, logr.Discard())
	settings := []karpenter.Options{
		karpenter.DisableReservedCapacityFallback,
		karpenter.NumConcurrentReconciles(r.workers),
		karpenter.MinValuesPolicy(options.MinValuesPolicyStrict),
	}
	sold := map[string][]*cloudprovider.InstanceType(r.cloud)

	topology, err := karpenter.NewTopology(ctx, r.kube, r.cluster, nil, r.pools, sold, r.pods, settings...)
	if err != nil {
		return err
	}
	scheduler := karpenter.NewScheduler(ctx, r.kube, r.pools, r.cluster, nil, topology, sold, r.daemons,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil, nil, settings...)
	// Solve sorts the list that it is given.
	results, err := scheduler.Solve(ctx, slices.Clone(r.pods))
	if errors.Is(err, context.DeadlineExceeded) {
		r.late, err = true, nil
	}
	if err != nil {
		return err
	}
	r.results = results.TruncateInstanceTypes(ctx, karpenter.MaxInstanceTypes)
	return nil
}

// Outcome implements [peer.Run].
func (r *run) Outcome() (peer.Outcome, error) {
	out := peer.Outcome{Late: r.late}
	for _, claim := range r.results.NewNodeClaims {
		t, of := cheapest(claim.InstanceTypeOptions, claim.Requirements, claim.Spec.Resources.Requests)
		if of == nil {
			return out, fmt.Errorf("a node claim of pool %s allows no offering", claim.NodePoolName)
		}
		m := peer.Machine{NodePool: claim.NodePoolName, InstanceType: t.Name, Offering: r.shelves[claim.NodePoolName].sold[of]}
		for _, pod := range claim.Pods {
			m.Pods = append(m.Pods, r.original[pod.UID])
		}
		out.Machines = append(out.Machines, m)
	}
	return out, nil
}
