package verify_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// withEveryTerm is a draft of a valid plan with every kind of topology term, on two nodes, a node that is being
// removed, and four machines to launch.
//
//	web    spread over zones and hosts; one runs in zone a
//	cache  anti-affinity to itself over hosts
//	shard  affinity to itself over zones
//	proxy  affinity to web over hosts
//	quiet  runs on n-c, anti-affinity to noise over zones
//	db     a volume in zone b, and a claim that one pod at a time may use
func withEveryTerm() *draft {
	m := st.Type("m", st.Capacity(st.Cores(8), st.GiB(16)),
		st.OnDemand("a", st.Cents(10)), st.OnDemand("b", st.Cents(10)), st.Spot("b", st.Cents(11)), st.OnDemand("c", st.Cents(10)))
	large := st.Type("large", st.Capacity(st.Cores(16), st.GiB(32)), st.OnDemand("a", st.Cents(20)), st.OnDemand("b", st.Cents(20)), st.OnDemand("c", st.Cents(20)))
	d := &draft{
		p: scheduling.Problem{
			Catalog:   st.MustCatalog(m, large),
			NodePools: []*scheduling.NodePool{st.NodePool("pool")},
			Nodes:     []*corev1.Node{zoned("n-a", "a"), zoned("n-c", "c"), zoned("n-gone", "a", st.Deleting())},
			Running: []*corev1.Pod{
				app("web-0", "web", "n-a", spread(zoneOf, 1, of("web"))),
				app("cache-0", "cache", "n-gone", apart(hostOf, of("cache"))),
				app("quiet-0", "quiet", "n-c", apart(zoneOf, of("noise"))),
			},
			Pods: slices.Concat(
				apps(5, "web", spread(zoneOf, 1, of("web")), spread(hostOf, 1, of("web"))),
				apps(3, "cache", apart(hostOf, of("cache"))),
				apps(3, "shard", near(zoneOf, of("shard"))),
				apps(1, "proxy", near(hostOf, of("web"))),
				apps(2, "noise"),
				apps(2, "db", using("data")),
			),
		},
		buys: []buy{
			{pool: "pool", pods: "web-1 cache-1 shard-1 proxy-1 db-2", options: []string{"m/b/on-demand", "m/b/spot", "large/b/on-demand"}},
			{pool: "pool", pods: "web-2 shard-2 shard-3 db-1", options: []string{"m/b/on-demand"}},
			{pool: "pool", pods: "web-3 cache-2", options: []string{"m/c/on-demand", "large/c/on-demand"}},
			{pool: "pool", pods: "web-4", options: []string{"m/a/on-demand"}},
		},
		nodes: map[string]string{"n-a": "cache-3 noise-1 noise-2", "n-c": "web-5"},
	}
	d.store(st.CSINode("n-a", st.Count(ebs, 1)), st.CSINode("n-c", st.Count(ebs, 2)), st.StorageClass("disk"),
		st.Claim("data", st.BoundTo("vol")), st.Volume("vol", st.Where(st.In(zoneOf, "b", "c"))),
		st.Claim("scratch", st.OfClass("disk"), st.Access(corev1.ReadWriteOncePod)), st.Claim("log", st.OfClass("disk")))
	with(d.pod("db-1"), using("scratch"))
	with(d.pod("noise-1"), using("log"))
	return d
}

// rebuy replaces the options of a launch.
func (d *draft) rebuy(launch int, options ...string) { d.buys[launch].options = options }

func termMutations() []termMutation {
	elsewhere := func(pod string, to any) func(*draft) { return func(d *draft) { d.move(pod, to) } }
	return []termMutation{
		{"a pod in a zone that has enough", func(d *draft) {
			d.move("web-3", "n-a")
			d.p.Pods = slices.DeleteFunc(d.p.Pods, func(p *corev1.Pod) bool { return p.Name == "cache-2" })
			d.buys = slices.Delete(d.buys, 2, 3)
		}, broken(verify.CodeTopologySpread)},
		{"a pod beside another of its kind", elsewhere("web-3", "n-c"), broken(verify.CodeTopologySpread)},
		{"a zone less for a machine", func(d *draft) { d.rebuy(1, "m/a/on-demand") }, broken(verify.CodeTopologySpread, verify.CodePodAffinity, verify.CodeVolume)},
		{"a zone less for another", func(d *draft) { d.rebuy(2, "m/b/on-demand") }, broken(verify.CodeTopologySpread)},
		{"a node in another zone", func(d *draft) { d.node("n-a").Labels[zoneOf] = "c" }, broken(verify.CodeTopologySpread, verify.CodePodAntiAffinity)},
		{"a node that has lost its zone", func(d *draft) { delete(d.node("n-c").Labels, zoneOf) }, broken(verify.CodeTopologySpread)},
		{"a node in a zone of its own", func(d *draft) { d.node("n-gone").Labels[zoneOf] = "d" }, broken(verify.CodeTopologySpread)},
		{"running pods more", func(d *draft) {
			d.p.Running = append(d.p.Running, app("web-8", "web", "n-a"), app("web-9", "web", "n-a"))
		}, broken(verify.CodeTopologySpread)},
		{"more domains than there are", func(d *draft) {
			for _, p := range d.p.Pods {
				if p.Labels["app"] == "web" {
					minDomains(4)(&p.Spec.TopologySpreadConstraints[0])
				}
			}
		}, broken(verify.CodeTopologySpread)},
		{"two of a kind on a host", elsewhere("cache-2", 0), broken(verify.CodePodAntiAffinity)},
		{"beside one that runs on a node that is being removed", elsewhere("cache-3", "n-gone"), broken(verify.CodePodAntiAffinity, verify.CodeNodeLeaving)},
		{"beside one that wants no such pods", elsewhere("noise-1", "n-c"), broken(verify.CodePodAntiAffinity)},
		{"in the zone of one that wants no such pods", elsewhere("noise-2", 2), broken(verify.CodePodAntiAffinity)},
		{"a pod that wants fewer", func(d *draft) { with(d.pod("shard-2"), apart(zoneOf, of("cache"))) }, broken(verify.CodePodAntiAffinity)},
		{"a running pod that wants fewer", func(d *draft) { with(d.running("web-0"), apart(zoneOf, of("cache"))) }, broken(verify.CodePodAntiAffinity)},
		{"away from its kind", elsewhere("shard-3", "n-a"), broken(verify.CodePodAffinity)},
		{"away from those it is for", elsewhere("proxy-1", "n-gone"), broken(verify.CodePodAffinity, verify.CodeNodeLeaving)},
		{"those it is for are called something else", func(d *draft) { d.pod("web-1").Labels["app"] = "web2" }, broken(verify.CodePodAffinity)},
		{"for pods of another namespace", func(d *draft) {
			d.pod("proxy-1").Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].Namespaces = []string{"other"}
		}, broken(verify.CodePodAffinity)},
		{"an option in another zone, for a pod that is spread", func(d *draft) { d.rebuy(2, "m/c/on-demand", "large/a/on-demand") }, broken(verify.CodeOptionTopology)},
		{"an option in another zone, for a pod that has company", func(d *draft) {
			d.move("shard-3", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "shard-3", options: []string{"m/b/on-demand", "m/c/on-demand"}})
		}, broken(verify.CodeOptionTopology)},
		{"an option in another zone, for a pod that is not wanted there", func(d *draft) {
			d.move("noise-1", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "noise-1", options: []string{"m/b/on-demand", "m/c/on-demand"}})
		}, broken(verify.CodeOptionTopology)},
		{"an option in another zone, for a pod that a planned one shuns", func(d *draft) {
			d.p.Running = slices.DeleteFunc(d.p.Running, func(p *corev1.Pod) bool { return p.Name == "quiet-0" })
			d.p.Pods = append(d.p.Pods, apps(1, "calm", apart(zoneOf, of("noise")))...)
			d.nodes["n-c"] += " calm-1"
			d.move("noise-1", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "noise-1", options: []string{"m/b/on-demand", "m/c/on-demand"}})
		}, broken(verify.CodeOptionTopology)},
		{"an option without the label, for a pod whose spread counts nobody", func(d *draft) {
			d.p.Pods = append(d.p.Pods, apps(1, "calm", spread("example.com/rack", 1, &metav1.LabelSelector{}))...)
			types := slices.Collect(d.p.Catalog.All())
			for i, t := range types {
				if t.Name == "m" {
					types[i] = st.Type("m", st.Capacity(st.Cores(8), st.GiB(16)), st.Label("example.com/rack", "1"),
						st.OnDemand("a", st.Cents(10)), st.OnDemand("b", st.Cents(10)), st.Spot("b", st.Cents(11)), st.OnDemand("c", st.Cents(10)))
				}
			}
			d.p.Catalog = st.MustCatalog(types...)
			d.buys = append(d.buys, buy{pool: "pool", pods: "calm-1", options: []string{"m/b/on-demand", "large/b/on-demand"}})
		}, broken(verify.CodeOptionTopology)},
		{"a pod away from its volume", elsewhere("db-2", "n-a"), broken(verify.CodeVolume, verify.CodeAttachLimit)},
		{"a pod on a machine away from its volume", elsewhere("db-2", 3), broken(verify.CodeVolume)},
		{"an option away from a volume", func(d *draft) {
			d.move("db-2", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "db-2", options: []string{"m/b/on-demand", "m/c/on-demand", "large/a/on-demand"}})
		}, broken(verify.CodeVolume)},
		{"a volume in another zone", func(d *draft) {
			d.p.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{"a"}
		}, broken(verify.CodeVolume)},
		{"a second user of a claim for one", func(d *draft) { with(d.pod("db-2"), using("scratch")) }, broken(verify.CodeVolumeInUse)},
		{"a running user of a claim for one", func(d *draft) { with(d.running("web-0"), using("scratch")) }, broken(verify.CodeVolumeInUse, verify.CodeAttachLimit)},
		{"a user elsewhere of a volume to be made", func(d *draft) { with(d.pod("cache-2"), using("log")) }, broken(verify.CodeVolumeApart)},
		{"two claims for one volume that nobody makes", func(d *draft) {
			disk := st.Volume("only", st.OfClass("shelf"))
			disk.Status.Phase = corev1.VolumeAvailable
			d.store(st.StorageClass("shelf", st.Driver("kubernetes.io/no-provisioner")), disk, st.Claim("x", st.OfClass("shelf")), st.Claim("y", st.OfClass("shelf")))
			with(d.pod("cache-1"), using("x"))
			with(d.pod("cache-2"), using("y"))
		}, broken(verify.CodeVolumeGone)},
		{"a volume that a node has no place for", func(d *draft) { d.p.CSINodes[0] = st.CSINode("n-a", st.Count(ebs, 0)) }, broken(verify.CodeAttachLimit)},
		{"a claim that is gone", func(d *draft) { d.p.Claims = d.p.Claims[1:] }, broken(verify.CodePodHeld)},
	}
}

func TestTiedMutations(t *testing.T) {
	require.Empty(t, withEveryTerm().plan().violations(t))
	for _, m := range termMutations() {
		t.Run(m.name, func(t *testing.T) {
			d := withEveryTerm()
			m.change(d)
			f := d.plan()
			f.skip = true
			f.breaks(t, m.breaks)
		})
	}
}

// TestGoodPlansWithTerms changes the plan with every term in ways that keep it valid.
func TestGoodPlansWithTerms(t *testing.T) {
	for name, change := range map[string]func(*draft){
		"a pod that nobody knows anywhere":          func(d *draft) { d.move("noise-1", 0) },
		"the other pod of a zone":                   func(d *draft) { d.move("cache-1", 1) },
		"all of a kind in another zone":             func(d *draft) { d.move("shard-1", "n-a"); d.move("shard-2", "n-a"); d.move("shard-3", "n-a") },
		"beside another of those it is for":         func(d *draft) { d.move("proxy-1", "n-a") },
		"a pod of another app":                      func(d *draft) { d.p.Running = append(d.p.Running, app("web-9", "db", "n-a")) },
		"a running pod that is being deleted":       func(d *draft) { d.p.Running = append(d.p.Running, app("web-9", "web", "n-a", terminating)) },
		"the node that is removed in a known zone":  func(d *draft) { d.node("n-gone").Labels[zoneOf] = "b" },
		"the node that is removed without a zone":   func(d *draft) { delete(d.node("n-gone").Labels, zoneOf) },
		"options of another type and capacity type": func(d *draft) { d.rebuy(1, "m/b/on-demand", "m/b/spot", "large/b/on-demand") },
		"options in other zones for pods at liberty": func(d *draft) {
			d.move("noise-1", "")
			d.p.Running = slices.DeleteFunc(d.p.Running, func(p *corev1.Pod) bool { return p.Name == "quiet-0" })
			d.buys = append(d.buys, buy{pool: "pool", pods: "noise-1", options: []string{"m/b/on-demand", "m/c/on-demand", "large/a/on-demand"}})
		},
		"options in other zones for pods that a running one shuns where there are no zones": func(d *draft) {
			delete(d.node("n-c").Labels, zoneOf)
			d.move("web-5", 2) // n-c is in no zone any more
			d.move("web-3", "")
			d.move("noise-1", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "noise-1", options: []string{"m/b/on-demand", "m/c/on-demand", "large/a/on-demand"}})
			d.p.Pods = slices.DeleteFunc(d.p.Pods, func(p *corev1.Pod) bool { return p.Name == "web-3" })
		},
		"options in other zones for pods that a planned one shuns where there are no zones": func(d *draft) {
			d.p.Running = slices.DeleteFunc(d.p.Running, func(p *corev1.Pod) bool { return p.Name == "quiet-0" })
			d.p.Nodes = append(d.p.Nodes, zoned("n-x", ""))
			d.p.Pods = append(d.p.Pods, apps(1, "calm", apart(zoneOf, of("noise")))...)
			d.nodes["n-x"] = "calm-1"
			d.move("noise-1", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "noise-1", options: []string{"m/b/on-demand", "m/c/on-demand", "large/a/on-demand"}})
		},
		"options in other zones for pods whose spread counts nobody": func(d *draft) {
			d.p.Pods = append(d.p.Pods, apps(1, "calm", spread(zoneOf, 1, nil), spread(zoneOf, 1, &metav1.LabelSelector{}), apart(zoneOf, nil))...)
			d.buys = append(d.buys, buy{pool: "pool", pods: "calm-1", options: []string{"m/b/on-demand", "m/c/on-demand", "large/a/on-demand"}})
		},
		"options in other zones for pods that are counted per host": func(d *draft) {
			d.move("cache-3", "")
			d.buys = append(d.buys, buy{pool: "pool", pods: "cache-3", options: []string{"m/b/on-demand", "m/c/on-demand"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := withEveryTerm()
			change(d)
			assert.Empty(t, d.plan().violations(t))
		})
	}
}
