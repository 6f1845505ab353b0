package verify_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestRefusalsOfPodsWithTerms: a plan refuses a pod with topology terms; the checker reports it exactly where the pod
// certainly has a place.
func TestRefusalsOfPodsWithTerms(t *testing.T) {
	full := st.Allocatable(st.MilliCPU(500))
	webs := func(spec string) (running []*corev1.Pod) {
		for i, zone := range spec {
			running = append(running, app("r-"+string(rune('0'+i)), "web", "n-"+string(zone)))
		}
		return running
	}
	pool := func(types ...string) func(*draft) {
		return func(d *draft) {
			d.p.NodePools = []*scheduling.NodePool{st.NodePool("pool", st.Where(st.In(typeOf, types...)))}
		}
	}
	spreads := apps(1, "web", spread(zoneOf, 1, of("web")))
	for _, tc := range []struct {
		name    string
		refused []*corev1.Pod
		running []*corev1.Pod
		nodes   []*corev1.Node
		more    func(*draft)
		fits    bool
	}{
		{"a node in the emptier zone", spreads, webs("a"), zones("a b"), nil, true},
		{"a node in the fuller zone, and no room in the other", spreads, webs("a"), []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "b", full)}, nil, false},
		{"a node in the zone of both", spreads, webs("ab"), []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "b", full)}, nil, true},
		{"another zone in which something is on sale, but not affordable", spreads, webs("ab"), []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "b", full)}, func(d *draft) {
			pool("m")(d)
			d.p.NodePools[0].Spec.Limits = st.Resources(st.Count(scheduling.NodesResource, 0))
		}, false},
		{"another zone in which what is on sale is too small", spreads, webs("ab"), []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "b", full)}, pool("small"), true},
		{"a machine in the emptier zone", spreads, webs("a"), []*corev1.Node{zoned("n-a", "a", full), zoned("n-b", "b", full)}, pool("m"), true},
		{"a machine in a new zone", spreads, webs("ab"), []*corev1.Node{zoned("n-a", "a", full), zoned("n-b", "b", full)}, pool("m"), true},
		{"too few domains, whatever is bought", apps(1, "web", spread(zoneOf, 1, of("web"), minDomains(9)), inZone("a")), webs("a"), zones("a"), pool("m"), false},
		{"a second pod on a host, where kube-scheduler would let it", apps(1, "web", spread(hostOf, 1, of("web"))), webs("ab"), zones("a b"), nil, false},
		{"a first pod on a host", apps(1, "web", spread(hostOf, 1, of("web"))), webs("a"), zones("a b"), nil, true},
		{"a first pod on a machine", apps(1, "web", spread(hostOf, 1, of("web"))), webs("ab"), zones("a b"), pool("m"), true},
		{"beside what it is to be with", apps(1, "x", near(hostOf, of("web"))), webs("a"), zones("a b"), nil, true},
		{"no room beside it", apps(1, "x", near(hostOf, of("web"))), webs("a"), []*corev1.Node{zoned("n-a", "a", full), zoned("n-b", "b")}, pool("m"), false},
		{"a machine in the zone of what it is to be with", apps(1, "x", near(zoneOf, of("web"))), webs("a"), []*corev1.Node{zoned("n-a", "a", full), zoned("n-b", "b")}, pool("m"), true},
		{"a machine in a zone in which nothing is on sale", apps(1, "x", near(zoneOf, of("web"))), webs("z"), []*corev1.Node{zoned("n-z", "z", full)}, pool("m"), false},
		{"nobody to be with", apps(1, "x", near(zoneOf, of("none"))), nil, zones("a"), pool("m"), false},
		{"the first of its kind", apps(1, "x", near(zoneOf, of("x"))), nil, zones("a"), nil, true},
		{"away from what it shuns", apps(1, "x", apart(hostOf, of("web"))), webs("a"), zones("a b"), nil, true},
		{"only where what it shuns is", apps(1, "x", apart(hostOf, of("web"))), webs("ab"), zones("a b"), nil, false},
		{"a machine away from what it shuns", apps(1, "x", apart(hostOf, of("web"))), webs("ab"), zones("a b"), pool("m"), true},
		{"only in zones of what it shuns", apps(1, "x", apart(zoneOf, of("web"))), webs("abc"), zones("a b c"), pool("m"), false},
		{"shunned by what runs there", apps(1, "x"), []*corev1.Pod{app("r", "web", "n-a", apart(zoneOf, of("x")))}, []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "a")}, nil, false},
		{"shunned elsewhere", apps(1, "x"), []*corev1.Pod{app("r", "web", "n-a", apart(zoneOf, of("x")))}, zones("a b"), nil, true},
		{"shunned by what runs on a node that is being removed", apps(1, "x"), []*corev1.Pod{app("r", "web", "n-a", apart(zoneOf, of("x")))},
			[]*corev1.Node{zoned("n-a", "a", st.Deleting()), zoned("n-b", "a")}, nil, false},
		{"a wish that cannot be granted", apps(1, "x", near(zoneOf, of("none")), preferring), nil, zones("a"), nil, true},
		{"a pool whose machines have labels to be chosen", apps(1, "x", near(zoneOf, of("x"))), nil, nil, func(d *draft) {
			d.p.NodePools = []*scheduling.NodePool{st.NodePool("pool", st.Where(st.Exists(team)))}
		}, false},
		{"a pool that wants several machines to choose from", apps(1, "x", near(zoneOf, of("x"))), nil, nil, func(d *draft) {
			d.p.NodePools = []*scheduling.NodePool{st.NodePool("pool", st.Where(st.AtLeast(2, st.Exists(typeOf))))}
		}, false},
		{"a limit", apps(1, "x", near(zoneOf, of("x"))), nil, nil, func(d *draft) {
			d.p.NodePools = []*scheduling.NodePool{st.NodePool("pool", st.Limit(st.Cores(3)), st.Where(st.In(typeOf, "m")))}
		}, false},
		{"a label by which nobody buys", apps(1, "x", near(zoneOf, of("x")), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{scheduling.RegisteredLabel: "true"} }), nil, nil, pool("m"), false},
		{"a volume in the zone of a node", apps(1, "x", using("data")), nil, zones("a b"), func(d *draft) {
			d.store(st.Claim("data", st.BoundTo("vol")), st.Volume("vol", st.Where(st.In(zoneOf, "a"))))
		}, true},
		{"a volume in another zone", apps(1, "x", using("data")), nil, zones("b"), func(d *draft) {
			d.store(st.Claim("data", st.BoundTo("vol")), st.Volume("vol", st.Where(st.In(zoneOf, "a"))))
		}, false},
		{"a volume in the zone of a machine", apps(1, "x", using("data")), nil, nil, func(d *draft) {
			pool("m")(d)
			d.store(st.Claim("data", st.BoundTo("vol")), st.Volume("vol", st.Where(st.In(zoneOf, "a"))))
		}, true},
		{"a node that takes no more volumes", apps(1, "x", using("data")), nil, zones("a"), func(d *draft) {
			d.store(st.Claim("data", st.OfClass("disk")), st.StorageClass("disk"), st.CSINode("n-a", st.Count(ebs, 0)))
		}, false},
		{"machines that take no volumes", apps(1, "x", using("data")), nil, nil, func(d *draft) {
			pool("small")(d)
			d.pod("x-1").Spec.Containers[0].Resources.Requests = st.Resources(st.MilliCPU(100))
			d.store(st.Claim("data", st.OfClass("disk")), st.StorageClass("disk"))
		}, false},
		{"a claim that somebody has", apps(1, "x", using("data")), []*corev1.Pod{app("r", "web", "n-b", using("data"))}, zones("a b"), func(d *draft) {
			d.store(st.Claim("data", st.OfClass("disk"), st.Access(corev1.ReadWriteOncePod)), st.StorageClass("disk"))
		}, false},
		{"a claim that two want", slices.Concat(apps(2, "x", using("data"))), nil, zones("a"), func(d *draft) {
			d.store(st.Claim("data", st.OfClass("disk"), st.Access(corev1.ReadWriteOncePod)), st.StorageClass("disk"))
		}, false},
		{"a claim for one that nobody has", apps(1, "x", using("data")), nil, zones("a"), func(d *draft) {
			d.store(st.Claim("data", st.OfClass("disk"), st.Access(corev1.ReadWriteOncePod)), st.StorageClass("disk"))
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &draft{nodes: map[string]string{}, p: scheduling.Problem{Pods: tc.refused, Running: tc.running, Nodes: tc.nodes, Catalog: st.MustCatalog(
				st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("a", 10), st.OnDemand("b", 10), st.OnDemand("c", 10)),
				st.Type("small", st.Capacity(st.MilliCPU(500), st.GiB(8), st.Count("attachable-volumes-csi-"+ebs, 0)), st.OnDemand("c", 1)))}}
			if tc.more != nil {
				tc.more(d)
			}
			var want []verify.Code
			if tc.fits {
				want = broken(verify.CodeRefusedForNothing)
			}
			got := d.plan().violations(t)
			assert.Equal(t, want, codes(got), "%v", got)
		})
	}
}

// TestRefusalsBesideOtherPods: a node is no place for a refused pod if another pod of the plan could not bind then.
func TestRefusalsBesideOtherPods(t *testing.T) {
	draftOf := func(more ...*corev1.Pod) *draft {
		return &draft{
			p: scheduling.Problem{
				Pods:  slices.Concat(apps(3, "web", spread(zoneOf, 1, of("web"))), more),
				Nodes: []*corev1.Node{zoned("n-a", "a"), zoned("n-b", "b", st.Allocatable(st.Cores(1)))},
			},
			nodes: map[string]string{"n-a": "web-1 web-2", "n-b": "web-3"},
		}
	}
	assert.Empty(t, draftOf(apps(1, "aaa", labelled("app", "web"))...).plan().violations(t), "with it in zone a, some of the others could not bind")
	assert.Equal(t, broken(verify.CodeRefusedForNothing), codes(draftOf(apps(1, "aaa")...).plan().violations(t)), "nobody counts it")
	d := draftOf(apps(1, "aaa", labelled("app", "web"))...)
	d.p.Pods[2].Spec.TopologySpreadConstraints, d.p.Pods[1].Spec.TopologySpreadConstraints, d.p.Pods[0].Spec.TopologySpreadConstraints = nil, nil, nil
	assert.Equal(t, broken(verify.CodeRefusedForNothing), codes(d.plan().violations(t)), "nobody minds")
}

// TestWeightsAndTerms: a pool of a lower weight is no violation where a topology term or a preference of another pod is
// about the pod, because it may be the reason.
func TestWeightsAndTerms(t *testing.T) {
	for _, tc := range []struct {
		name    string
		running *corev1.Pod
		pending []*corev1.Pod
		ignored bool
	}{
		{"a pod that nobody cares about", app("r", "r", "n", apart(zoneOf, of("y"))), nil, true},
		{"a pod that a running one shuns", app("r", "r", "n", apart(zoneOf, of("x"))), nil, false},
		{"a pod that a running one would rather not meet", app("r", "r", "n", apart(zoneOf, of("x")), preferring), nil, false},
		{"a pod that others count", nil, apps(1, "y", spread(zoneOf, 1, of("x"))), false},
		{"a pod that others would like to count", nil, apps(1, "y", spread(zoneOf, 1, of("x"), anyway)), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &draft{p: scheduling.Problem{
				Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))),
				NodePools: []*scheduling.NodePool{st.NodePool("low"), st.NodePool("high", st.Weight(2))},
				Pods:      slices.Concat(apps(1, "x"), tc.pending), Nodes: []*corev1.Node{zoned("n", "b", st.Allocatable(st.Cores(1)))},
			}, buys: []buy{{pool: "low", pods: "x-1", options: []string{"m/a/on-demand"}}}, nodes: map[string]string{}}
			if tc.running != nil {
				d.p.Running = []*corev1.Pod{tc.running}
			}
			if len(tc.pending) > 0 {
				d.nodes["n"] = "y-1"
			}
			var want []verify.Code
			if tc.ignored {
				want = broken(verify.CodeWeightIgnored)
			}
			got := d.plan().violations(t)
			assert.Equal(t, want, codes(got), "%v", got)
		})
	}
}

// TestRefusalsWhateverTheOrder: a node is a place for a refused pod only if the pod can bind there both before and
// after the pods of the plan.
func TestRefusalsWhateverTheOrder(t *testing.T) {
	likeWeb := func(name string, changes ...change) []*corev1.Pod {
		return apps(1, name, append([]change{labelled("app", "web")}, changes...)...)
	}
	own := near(zoneOf, of("web"))
	for _, tc := range []struct {
		name    string
		planned []*corev1.Pod // on a node in zone b without further room
		refused []*corev1.Pod
		node    string // the zone of a roomy node, or
		sold    string // where machines are sold
		fits    bool
	}{
		{"first of its kind, on a machine, by its name", apps(1, "web"), likeWeb("aaa", own), "", "a", false},
		{"first of its kind, on a machine, in reverse", apps(1, "web"), likeWeb("zzz", own), "", "a", false},
		{"first of its kind, on a node, by its name", apps(1, "web"), likeWeb("aaa", own), "a", "", false},
		{"first of its kind, on a node, in reverse", apps(1, "web"), likeWeb("zzz", own), "a", "", false},
		{"on a machine with its kind", apps(1, "web"), likeWeb("aaa", own), "", "b", true},
		{"on a node with its kind", apps(1, "web"), likeWeb("zzz", own), "b", "", true},
		{"without a kind", apps(1, "web"), apps(1, "aaa", near(zoneOf, of("aaa"))), "a", "", true},
		{"taking the first place from another, by its name", apps(1, "web", own), likeWeb("aaa"), "a", "", false},
		{"taking the first place from another, in reverse", apps(1, "web", own), likeWeb("zzz"), "a", "", false},
		{"taking the first place from another, on a machine in reverse", apps(1, "web", own), likeWeb("zzz"), "", "a", false},
		{"giving another company, by its name", apps(1, "web", own), likeWeb("aaa"), "b", "", true},
		{"giving another company, in reverse", apps(1, "web", own), likeWeb("zzz"), "b", "", true},
		{"of a priority by which it comes first", apps(1, "web"), likeWeb("zzz", own, priority(1)), "", "a", false},
		{"of a priority by which it comes last", apps(1, "web", own), likeWeb("aaa", priority(-1)), "a", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &draft{nodes: map[string]string{"n-b": tc.planned[0].Name}, p: scheduling.Problem{
				Pods:  slices.Concat(tc.planned, tc.refused),
				Nodes: []*corev1.Node{zoned("n-b", "b", st.Allocatable(st.Cores(1)))},
			}}
			if tc.node != "" {
				d.p.Nodes = append(d.p.Nodes, zoned("n-more", tc.node))
			}
			if tc.sold != "" {
				d.p.Catalog = st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand(tc.sold, 10)))
				d.p.NodePools = []*scheduling.NodePool{st.NodePool("pool")}
			}
			var want []verify.Code
			if tc.fits {
				want = broken(verify.CodeRefusedForNothing)
			}
			got := d.plan().violations(t)
			assert.Equal(t, want, codes(got), "%v", got)
		})
	}
}
