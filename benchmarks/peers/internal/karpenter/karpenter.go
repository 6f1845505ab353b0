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
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	karpenter "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Peer is Karpenter's scheduler.
type Peer struct {
	// Workers is the number of goroutines that look for a place for one pod; less than 1 is
	// 1, Karpenter's number where its container requests up to one core.
	Workers int
	// IgnorePreferences ignores the preferences of pods (Karpenter's preference policy
	// Ignore).
	IgnorePreferences bool
}

// Name implements [peer.Peer].
func (Peer) Name() string { return peer.Karpenter }

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

	r := &run{peer: k, pools: pools, cloud: provider{}, shelves: map[string]shelf{}, original: map[types.UID]*corev1.Pod{}}
	common := translate(p.Catalog, keys, p.Unavailable, p.Now)
	for _, pool := range pools {
		s := common
		if own, ok := p.PoolCatalogs[pool.Name]; ok {
			s = translate(own, keys, p.Unavailable, p.Now)
		}
		r.shelves[pool.Name], r.cloud[pool.Name] = s, s.types
	}
	r.kube = server(surroundings(&p))
	r.cluster = state.NewCluster(clock.RealClock{}, r.kube, r.cloud)
	r.take(p.Pods)
	for _, ds := range p.DaemonSets {
		r.daemons = append(r.daemons, daemonset.PodForDaemonSet(ds.DeepCopy()))
	}
	return r, nil
}

type run struct {
	peer     Peer
	pools    []*karpv1.NodePool
	cloud    provider
	shelves  map[string]shelf
	pods     []*corev1.Pod
	original map[types.UID]*corev1.Pod
	daemons  []*corev1.Pod
	// volumes are the node requirements of the volumes of pods, in alternatives.
	volumes map[types.UID][]kscheduling.Requirements
	kube    client.Client
	cluster *state.Cluster

	results karpenter.Results
	late    bool
}

// take prepares pending pods as the provisioner does before it schedules: it leaves out
// pods that it cannot provision for, and resolves the zones of volumes.
func (r *run) take(pods []*corev1.Pod) {
	ctx := log.IntoContext(context.Background(), logr.Discard())
	provisioner := provisioning.NewProvisioner(r.kube, events.NewRecorder(&record.FakeRecorder{}), r.cloud, r.cluster, clock.RealClock{}, nil, nil)
	topology := karpenter.NewVolumeTopology(r.kube)
	r.volumes = map[types.UID][]kscheduling.Requirements{}
	for i, pod := range pods {
		admitted := schedulingtest.Admitted(pod)
		admitted.UID = types.UID(fmt.Sprintf("pod-%08d", i)) // Karpenter keeps its notes by UID
		if !provisionable(admitted) || provisioner.Validate(ctx, admitted) != nil {
			continue
		}
		where, err := topology.GetRequirements(ctx, admitted)
		if err != nil {
			continue // the provisioner logs it and goes on without the pod
		}
		if len(where) > 0 {
			r.volumes[admitted.UID] = where
		}
		r.original[admitted.UID] = pod
		r.pods = append(r.pods, admitted)
	}
}

// provisionable is whether the pod waits for a node, and is none of a daemon's.
func provisionable(pod *corev1.Pod) bool {
	return !podutils.IsScheduled(pod) && !podutils.IsPreempting(pod) && !podutils.IsTerminal(pod) && !podutils.IsTerminating(pod) &&
		len(pod.Spec.SchedulingGates) == 0 && !podutils.IsOwnedByDaemonSet(pod) && !podutils.IsOwnedByNode(pod)
}

// Solve runs the steps of the provisioner's Schedule between gathering its objects and
// reporting: topology, scheduler, solve, truncate.
func (r *run) Solve(ctx context.Context) error {
	workers := max(1, r.peer.Workers)
	policy := options.PreferencePolicyRespect
	if r.peer.IgnorePreferences {
		policy = options.PreferencePolicyIgnore
	}
	ctx = options.ToContext(injection.WithControllerName(ctx, "provisioner"), &options.Options{
		CPURequests:       1000 * int64(workers),
		PreferencePolicy:  policy,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
		FeatureGates:      options.FeatureGates{ReservedCapacity: true},
	})
	ctx = log.IntoContext(ctx, logr.Discard())
	settings := []karpenter.Options{
		karpenter.DisableReservedCapacityFallback,
		karpenter.NumConcurrentReconciles(workers),
		karpenter.MinValuesPolicy(options.MinValuesPolicyStrict),
	}
	if r.peer.IgnorePreferences {
		settings = append(settings, karpenter.IgnorePreferences)
	}
	sold := map[string][]*cloudprovider.InstanceType(r.cloud)

	topology, err := karpenter.NewTopology(ctx, r.kube, r.cluster, nil, r.pools, sold, r.pods, settings...)
	if err != nil {
		return err
	}
	scheduler := karpenter.NewScheduler(ctx, r.kube, r.pools, r.cluster, nil, topology, sold, r.daemons,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, r.volumes, nil, settings...)
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
		m, err := cheapestMachine(claim, r.shelves)
		if err != nil {
			out.Impossible = append(out.Impossible, err.Error())
			continue
		}
		for _, pod := range claim.Pods {
			m.Pods = append(m.Pods, r.original[pod.UID])
		}
		out.Machines = append(out.Machines, m)
	}
	return out, nil
}

// cheapestMachine is the machine that a node claim becomes, without pods.
func cheapestMachine(claim *karpenter.NodeClaim, shelves map[string]shelf) (peer.Machine, error) {
	t, of := cheapest(claim.InstanceTypeOptions, claim.Requirements, claim.Spec.Resources.Requests)
	if of == nil {
		return peer.Machine{}, fmt.Errorf("a node claim of pool %s for %d pods allows no offering that holds them", claim.NodePoolName, len(claim.Pods))
	}
	m := peer.Machine{NodePool: claim.NodePoolName, InstanceType: t.Name, Offering: shelves[claim.NodePoolName].sold[of]}
	m.Labels = labels(claim.Requirements, t.Requirements, of.Requirements)
	return m, nil
}

// labels returns values for the labels of a node claim that neither type nor offering decide:
// the least value of an In requirement, any value for other operators.
func labels(claim kscheduling.Requirements, decided ...kscheduling.Requirements) map[string]string {
	out := map[string]string{}
	for key, r := range claim {
		switch {
		case slices.ContainsFunc(decided, func(d kscheduling.Requirements) bool { return d.Has(key) }):
		case r.Operator() == corev1.NodeSelectorOpIn:
			out[key] = slices.Min(r.Values())
		case r.Operator() != corev1.NodeSelectorOpDoesNotExist:
			out[key] = r.Any()
		}
	}
	return out
}
