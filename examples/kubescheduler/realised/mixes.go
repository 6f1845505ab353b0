package realised

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Mix is a kind of problem.
type Mix struct {
	// Name names it, About is one sentence about it.
	Name, About string
	// TopologyTerms says that pods have affinity or spread constraints.
	TopologyTerms bool
	pods          func(seed uint64) []*corev1.Pod
	owned         bool     // a ReplicaSet owns the pods of each app
	ways          []string // capacity types that may be bought
}

// Mixes are the problems that the loop is tried on. Machines are the catalog's amd64 ones, of
// EC2 those of categories c, m and r from generation 5 on, in the three zones that sell most.
func Mixes() []Mix {
	const spot, onDemand = string(offerings.Spot), string(offerings.OnDemand)
	return []Mix{
		{
			Name: "services", ways: []string{onDemand}, pods: services,
			About: "2,000 pods of 200 kinds with log-normal requests, on demand",
		},
		{
			Name: "deployments", ways: []string{onDemand}, pods: services, owned: true,
			About: "the same as Deployments, whose pods kube-scheduler prefers to spread over nodes and zones",
		},
		{
			Name: "services-zones", ways: []string{spot}, pods: zonalServices, TopologyTerms: true,
			About: "the same pods, each kind spread over zones, on spot machines",
		},
		{
			Name: "karpenter", ways: []string{spot, onDemand}, pods: func(seed uint64) []*corev1.Pod { return st.Diverse(1000, seed) }, TopologyTerms: true,
			About: "1,000 pods of Karpenter's own scheduling benchmark: plain, spread over zones and hosts, together in a zone, apart",
		},
		{
			Name: "thirty-sizes", ways: []string{onDemand}, pods: func(seed uint64) []*corev1.Pod { return st.MixedSizes(1500, seed) },
			About: "1,500 pods of thirty sizes from 100m to 1.5 cores, on demand",
		},
		{
			Name: "batch", ways: []string{onDemand}, pods: batch,
			About: "3,000 large pods of ten sizes as in a production cluster, on demand",
		},
		{
			Name: "site", ways: []string{spot}, pods: site, TopologyTerms: true,
			About: "some 300 small pods of forty Deployments, each spread over zones, on spot machines",
		},
	}
}

// Problem is the mix drawn with a seed, to be bought from a catalog.
func (m *Mix) Problem(seed uint64, catalog *instancetypes.Catalog) *scheduling.Problem {
	p := &scheduling.Problem{Pods: m.pods(seed), NodePools: []*scheduling.NodePool{pool(catalog, m.ways)}, Catalog: catalog}
	if m.owned {
		own(p)
	}
	return p
}

// own gives the pods of each app a ReplicaSet.
func own(p *scheduling.Problem) {
	sets := map[string]*appsv1.ReplicaSet{}
	for _, pod := range p.Pods {
		app := pod.Labels["app"]
		pod.OwnerReferences = st.Pod("", st.OwnedBy("ReplicaSet", app)).OwnerReferences
		if sets[app] == nil {
			sets[app] = &appsv1.ReplicaSet{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
				ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: metav1.NamespaceDefault, UID: pod.OwnerReferences[0].UID},
				Spec: appsv1.ReplicaSetSpec{
					Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
				},
			}
			p.Owners.ReplicaSets = append(p.Owners.ReplicaSets, sets[app])
		}
		*sets[app].Spec.Replicas++
	}
}

func pool(catalog *instancetypes.Catalog, ways []string) *scheduling.NodePool {
	const category = "karpenter.k8s.aws/instance-category"
	where := []requirements.Selector{st.In(corev1.LabelArchStable, "amd64"), st.In(offerings.CapacityTypeLabel, ways...)}
	sold, ofEC2 := map[string]int{}, false
	for t := range catalog.All() {
		_, has := t.Labels[category]
		ofEC2 = ofEC2 || has
		for i := range t.Offerings {
			sold[t.Offerings[i].Zone]++
		}
	}
	if ofEC2 {
		where = append(where, st.In(category, "c", "m", "r"), st.Gte("karpenter.k8s.aws/instance-generation", 5))
	}
	zones := slices.SortedFunc(maps.Keys(sold), func(a, b string) int { return cmp.Or(cmp.Compare(sold[b], sold[a]), cmp.Compare(a, b)) })
	where = append(where, st.In(corev1.LabelTopologyZone, zones[:min(3, len(zones))]...))
	return st.NodePool("default", st.Where(where...))
}

func services(seed uint64) []*corev1.Pod { return st.Workloads(2000, 200, seed) }

func zonalServices(seed uint64) []*corev1.Pod {
	pods := services(seed)
	for _, pod := range pods {
		pod.Spec.TopologySpreadConstraints = overZones(pod.Labels["app"])
	}
	return pods
}

// overZones spreads the pods of an app.
func overZones(app string) []corev1.TopologySpreadConstraint {
	return st.Pod("", st.Label("app", app), st.Spread(corev1.LabelTopologyZone, st.Of("app", app))).Spec.TopologySpreadConstraints
}

// batch is pods of sizes that round the commonest of those without a GPU in a production
// cluster, Alibaba's public cluster-trace-gpu-v2023 (Weng et al., ATC '23).
func batch(seed uint64) []*corev1.Pod {
	kinds := []struct{ share, milliCPU, gib int64 }{
		{31, 12500, 56}, {24, 32000, 48}, {15, 8000, 30}, {10, 15400, 50}, {9, 16500, 50},
		{4, 8000, 15}, {3, 11400, 56}, {2, 16000, 30}, {1, 16000, 60}, {1, 20000, 64},
	}
	var shares int64
	for _, k := range kinds {
		shares += k.share
	}
	dice := newDice(seed)
	var pods []*corev1.Pod
	for i := range 3000 {
		at := dice.Int64N(shares)
		for _, k := range kinds {
			if at -= k.share; at < 0 {
				pods = append(pods, st.Pod(fmt.Sprintf("job-%04d", i), st.Requests(st.MilliCPU(k.milliCPU), st.GiB(k.gib))))
				break
			}
		}
	}
	return pods
}

// site is forty Deployments of two to fifteen pods that ask for little.
func site(seed uint64) []*corev1.Pod {
	dice := newDice(seed)
	var pods []*corev1.Pod
	for i := range 40 {
		app := fmt.Sprintf("site-%02d", i)
		milliCPU, mib := 5*(1+dice.Int64N(30)), 16*(1+dice.Int64N(24))
		pods = append(pods, st.Pods(2+dice.IntN(14), app, st.Label("app", app),
			st.Requests(st.MilliCPU(milliCPU), st.MiB(mib)), st.Spread(corev1.LabelTopologyZone, st.Of("app", app)))...)
	}
	return pods
}

func newDice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) } //nolint:gosec // a corpus, not a secret
